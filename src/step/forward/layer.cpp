// One layer: norm, attention, residual, norm, feed-forward or experts, residual. Bytes of each pass
// and what it keeps are listed in docs/models/step.md [STEP-5]; with dropout, 16-bit activations
// and unfused attention the kept bytes are those of arXiv 2205.05198 §4: s·b·h·(34 + 5·a·s/h).
#include "model/count.hpp"
#include "step/forward/forward.hpp"
#include "step/forward/parts.hpp"

namespace headway {

void add_norm(Writer& writer, const Share& share) {
  const double values = share.norm_rows * share.hidden;
  const Bytes bytes = values * share.residual;
  Bytes kept = bytes;
  writer.enter(Piece::norm);
  if (share.job.fused ||
      share.habit.kernels.fused_norms) {   // x read, y written; backward dy and x read,
    writer.pass(bytes * 2, bytes * 3, 1);  // dx written
  } else if (share.model.norm == NormKind::layer_norm) {
    // A library's kernel of its own; backward another reads dy and x once more for the gradients of
    // scale and shift. Under autocast y and dy are cast to and from 16 bit.
    const Bytes cast =
        share.residual > share.element ? values * (share.residual + share.element) : Bytes(0);
    writer.pass(bytes * 2 + cast, bytes * 5 + cast, cast > Bytes(0) ? 3 : 2);
  } else {
    // A pass for each step of the formula [STEP-15]: cast to fp32, square, mean, quotient, cast
    // back, scale; backward some twice as many.
    const Bytes casts = share.residual < Bytes(4) ? Bytes(8) : Bytes(0);
    writer.pass(values * (Bytes(28) + casts), values * (Bytes(62) + casts), 7);
    kept = bytes * 3;
  }
  writer.enter(Piece::other);
  writer.keep(kept);
}

void add_residual(Writer& writer, const Share& share) {
  const double values = share.norm_rows * share.hidden;
  const Bytes bytes = values * share.element;
  const Bytes mask(share.dropout > 0 ? values : 0);
  const bool fused = share.job.fused;
  // x and residual read, sum written (dropout: its mask, too). Backward: the two branches'
  // gradients are read and their sum written; dropout reads gradient and mask and writes.
  Bytes forward = bytes + values * 2 * share.residual + mask;
  Bytes backward = values * 3 * share.residual + (share.dropout > 0 ? 2 * bytes + mask : Bytes(0));
  if (share.residual > share.element) backward += values * share.residual + bytes;  // cast
  if (!fused && share.dropout > 0) forward += 2 * bytes;
  writer.pass(forward, backward, fused || share.dropout == 0 ? 1 : 2);
  writer.keep(mask);
}

void add_gate(Writer& writer, const Share& share, Bytes bytes) {
  // Result and gate read, their product written; backward its gradient and both read, two written.
  // Not fused: the sigmoid goes through memory.
  const double more = share.job.fused ? 0 : 2;
  writer.pass(bytes * (3 + more), bytes * (5 + more), share.job.fused ? 1 : 2);
  writer.keep(bytes * (share.job.fused ? 2 : 3));  // gate, product; the sigmoid
}

// What one rank holds of a layer's attention, with half of the norms beside it.
static double attention_parameters(const Share& share, const Layer& layer) {
  if (!layer.attention) return 0;
  Layer alone = layer;
  alone.feed_forward.reset();
  alone.experts.reset();
  const bool all = layer.parallel || (!layer.feed_forward && !layer.experts);
  alone.norms = all ? layer.norms : layer.norms / 2;
  const LayerParameters held = layer_parameters(share.model, alone);
  return static_cast<double>(held.split) / static_cast<double>(share.split.tp) +
         static_cast<double>(held.replicated);
}

Program forward_layer(const Share& share, const Layer& layer, BlockKind kind) {
  if (!layer.modules.empty()) return forward_modules(share, layer);
  Writer writer(share, kind);
  if (layer.attention && layer.attention->linear) {
    add_linear_attention(writer, share, layer);
  } else if (layer.attention) {
    add_attention(writer, share, layer);
  }
  if (layer.feed_forward) add_feed_forward(writer, share, layer);
  if (layer.experts) add_experts(writer, share, layer);
  const bool apart = !layer.parallel && (layer.feed_forward || layer.experts);
  const int norms_added = (layer.attention ? 1 : 0) + (apart ? 1 : 0);
  for (std::int64_t i = norms_added; i < layer.norms; ++i) add_norm(writer, share);

  if (share.sequence_parallel) {
    // Whole, not split: what each half gathers, and its result before that is summed and split.
    const double halves = layer.attention && apart ? 2 : 1;
    writer.work(halves * 2 * share.rows * share.hidden * share.element);
  }

  const LayerParameters all = layer_parameters(share.model, layer);
  HeldParameters held;
  held.dense = static_cast<double>(all.split) / static_cast<double>(share.split.tp) +
               static_cast<double>(all.replicated);
  held.experts =
      static_cast<double>(all.experts) / static_cast<double>(share.split.ep * share.split.etp);
  if (kind == BlockKind::prediction) {  // three norms, the projection of [hidden; embedding]
    held.dense += 2 * share.hidden * share.hidden / static_cast<double>(share.split.tp) +
                  3 * norm_parameters(share.model);
    const Linear joint{Role::feed_forward_down, Split::column, 2 * share.model.hidden,
                       share.model.hidden, false};
    writer.linear(joint, share.split.tp, share.tokens);
  }
  held.attention = held.dense > 0 ? attention_parameters(share, layer) / held.dense : 0;
  held.attention_trained = held.attention;
  if (!share.trains_weights) {  // rank · (in + out) of each matrix
    double adapters = 0, of_attention = 0;
    for (const Linear& matrix : linears(layer, share.model.hidden)) {
      const bool expert = matrix.role == Role::expert_up || matrix.role == Role::expert_down;
      if (matrix.role == Role::router || matrix.role == Role::shared_gate) continue;
      if (!has_adapters(share.job, matrix.role)) continue;
      const double copies =
          expert ? static_cast<double>(layer.experts->count / share.split.ep) : 1.0;
      const double adapter = copies *
                             static_cast<double>(share.job.lora_rank * (matrix.in + matrix.out)) /
                             static_cast<double>(expert ? share.split.etp : share.split.tp);
      adapters += adapter;
      if (is_of_attention(matrix.role)) of_attention += adapter;
    }
    held.trained = adapters / (held.dense + held.experts);
    held.attention_trained = adapters > 0 ? of_attention / adapters : 0;
  }
  writer.hold(held);
  return writer.finish(share.norm_rows * share.hidden * share.residual);
}

}  // namespace headway
