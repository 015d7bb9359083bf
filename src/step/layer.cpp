// One layer: norm, attention, residual, norm, feed-forward or experts, residual. Bytes of each pass
// and what it keeps are listed in docs/models/step.md [STEP-5]; with dropout, 16-bit activations
// and unfused attention the kept bytes are those of arXiv 2205.05198 §4: s·b·h·(34 + 5·a·s/h).
#include <algorithm>

#include "model/count.hpp"
#include "step/block_builder.hpp"

namespace headway {

void add_norm(BlockBuilder& builder, const Slice& slice) {
  const double values = slice.norm_rows * slice.hidden;
  const double bytes = values * slice.residual;
  double kept = bytes;
  builder.enter(Piece::norm);
  if (slice.job.fused ||
      slice.habit.kernels.fused_norms) {    // x read, y written; backward dy and x read,
    builder.pass(bytes * 2, bytes * 3, 1);  // dx written
  } else if (slice.model.norm == NormKind::layer_norm) {
    // A library's kernel of its own; backward another reads dy and x once more for the gradients of
    // scale and shift. Under autocast y and dy are cast to and from 16 bit.
    const double cast =
        slice.residual > slice.element ? values * (slice.residual + slice.element) : 0;
    builder.pass(bytes * 2 + cast, bytes * 5 + cast, cast > 0 ? 3 : 2);
  } else {  // about a pass for each step of the formula, the inner ones in fp32
    builder.pass(bytes * 8, bytes * 14, 6);
    kept = bytes * 3;
  }
  builder.enter(Piece::other);
  builder.keep(kept);
}

void add_residual(BlockBuilder& builder, const Slice& slice) {
  const double values = slice.norm_rows * slice.hidden;
  const double bytes = values * slice.element;
  const double mask = slice.dropout > 0 ? values : 0;
  const bool fused = slice.job.fused;
  // x and residual read, sum written (dropout: its mask, too). Backward: the two branches'
  // gradients are read and their sum written; dropout reads gradient and mask and writes.
  double forward = bytes + values * 2 * slice.residual + mask;
  double backward = values * 3 * slice.residual + (slice.dropout > 0 ? 2 * bytes + mask : 0);
  if (slice.residual > slice.element) backward += values * slice.residual + bytes;  // cast
  if (!fused && slice.dropout > 0) forward += 2 * bytes;
  builder.pass(forward, backward, fused || slice.dropout == 0 ? 1 : 2);
  builder.keep(mask);
}

void add_gate(BlockBuilder& builder, const Slice& slice, double bytes) {
  // Result and gate read, their product written; backward its gradient and both read, two written.
  // Not fused: the sigmoid goes through memory.
  const double more = slice.job.fused ? 0 : 2;
  builder.pass(bytes * (3 + more), bytes * (5 + more), slice.job.fused ? 1 : 2);
  builder.keep(bytes * (slice.job.fused ? 2 : 3));  // gate, product; the sigmoid
}

void add_attention(BlockBuilder& builder, const Slice& slice, const Layer& layer) {
  const Attention& attention = *layer.attention;
  const Layout& layout = slice.layout;
  const std::int64_t tp = layout.tp;
  const std::int64_t heads = attention.heads / tp;
  const std::int64_t kv_heads = std::max<std::int64_t>(1, attention.kv_heads / tp);
  const bool quantised = slice.job.recipe->saved_input_bytes < slice.element;

  builder.serve(Module::attention);
  add_norm(builder, slice);
  add_tensor_parallel_entry(builder, slice);
  for (const Linear& matrix : linears(layer, slice.model.hidden)) {
    switch (matrix.role) {
      case Role::query_key_value: {
        // Key-value heads fewer than tp are repeated on several ranks.
        Linear local = matrix;
        local.out = tp * (heads * attention.head_dim +
                          kv_heads * (attention.head_dim + attention.value_dim) +
                          (attention.gated ? heads * attention.value_dim : 0));
        builder.linear(local, tp, slice.tokens, 1, /*keep_input=*/false);
        builder.keep(slice.input_rows * slice.hidden *
                         (quantised ? slice.job.recipe->saved_input_bytes : slice.element),
                     Piece::norm);
        break;
      }
      case Role::query_down:
      case Role::key_value_down:
        builder.linear(matrix, tp, slice.tokens);
        break;
      case Role::query_up:
      case Role::key_value_up:
        builder.enter(Piece::latent_up);
        builder.linear(matrix, tp, slice.tokens, 1, /*keep_input=*/false);
        builder.enter(Piece::other);
        builder.keep(slice.rows * static_cast<double>(matrix.in) *
                     (quantised ? slice.job.recipe->saved_input_bytes : slice.element));
        break;
      default:
        break;
    }
  }

  const double query_width = static_cast<double>(heads * attention.head_dim);
  const double key_width = static_cast<double>(kv_heads * attention.head_dim);
  const double value_width = static_cast<double>(kv_heads * attention.value_dim);
  const double out_width = static_cast<double>(heads * attention.value_dim);
  const double bytes = slice.rows * slice.element;  // of one column
  if (slice.model.learned_positions == 0) {         // rotary: queries and keys read and written
    const double rotated = bytes * (query_width + key_width);
    const bool fused = slice.job.fused || slice.habit.kernels.fused_norms;
    builder.pass(rotated * (fused ? 2 : 6), rotated * (fused ? 2 : 6), fused ? 2 : 8);
  }
  if (!slice.job.fused && slice.habit.kernels.attention_copies > 0) {
    const double copied = bytes * query_width * slice.habit.kernels.attention_copies;
    builder.pass(copied, copied, 4);
  }
  if (attention.query_key_norm != QueryKeyNorm::none) {
    builder.pass(2 * bytes * (query_width + key_width), 3 * bytes * (query_width + key_width), 2);
    builder.keep(bytes * (query_width + key_width));
  }
  builder.keep(bytes * (query_width + key_width + value_width),
               attention.latent ? Piece::latent_up : Piece::other);
  if (!slice.job.fused) {  // the three gradients are put together for the one product
    builder.pass(0, 2 * bytes * (query_width + key_width + value_width));
  }
  if (slice.job.padding_mask && slice.job.attention != AttentionKernel::unfused) {
    // Tokens of q, k, v gathered (read, written), the result set to zero and scattered; backward
    // the same the other way round.
    const double inner = bytes * (query_width + key_width + value_width);
    builder.pass(2 * inner + 3 * bytes * out_width, 3 * inner + 2 * bytes * out_width, 6);
    builder.keep(bytes * out_width);  // gathered; q, k, v are kept gathered instead of whole
  }

  add_context_parallel(builder, slice, attention);
  const bool exchange_heads =
      layout.cp > 1 && layout.context_exchange == ContextExchange::all_to_all;
  AttentionShape core{};
  core.batch = layout.micro_batch;
  core.heads = exchange_heads ? heads / layout.cp : heads;
  core.kv_heads = exchange_heads ? std::max<std::int64_t>(1, kv_heads / layout.cp) : kv_heads;
  core.queries = exchange_heads ? slice.job.sequence : slice.job.sequence / layout.cp;
  core.keys = slice.job.sequence;
  core.head_dim = attention.head_dim;
  core.value_dim = attention.value_dim;
  core.causal = slice.job.causal;
  core.window = attention.window;
  core.dropout = slice.dropout;
  const std::int64_t documents = documents_in(core.queries, slice.job);
  if (documents > 1) {  // packed documents attend to themselves
    core.batch *= documents;
    core.queries = core.keys = (2 * core.queries + documents) / (2 * documents);
  }
  builder.attention(core);
  const double scores =
      static_cast<double>(core.batch * core.heads * core.queries) * static_cast<double>(core.keys);
  if (slice.job.attention == AttentionKernel::unfused) {
    builder.keep(scores * slice.element, Piece::core);  // softmax
    if (core.dropout > 0) builder.keep(scores * (slice.element + 1), Piece::core);
  } else {
    builder.keep(slice.rows * static_cast<double>(heads) * 4, Piece::core);  // log-sum-exp
  }

  for (const Linear& matrix : linears(layer, slice.model.hidden)) {
    if (matrix.role != Role::attention_output) continue;
    builder.linear(matrix, tp, slice.tokens, 1, /*keep_input=*/false);
  }
  // Flash kernels need their result for the backward pass; in 16 bit it is also the input kept for
  // the output projection.
  builder.keep(bytes * out_width);
  if (quantised) builder.keep(slice.rows * out_width * slice.job.recipe->saved_input_bytes);
  if (attention.gated) add_gate(builder, slice, bytes * out_width);
  add_tensor_parallel_exit(builder, slice);
  add_residual(builder, slice);
}

// The activation between the two products for `elements` of its result, in a layer's piece
// `around`. Where only the activation runs again (`piece`), what enters it is kept.
static void add_activation(BlockBuilder& builder, const Slice& slice, const FeedForward& part,
                           double elements, Piece piece, Piece around) {
  const double bytes = elements * slice.element;
  const bool fused = slice.job.fused;
  const bool in_products = around == Piece::experts && slice.job.fused_experts;
  if (!builder.recomputes(around)) builder.enter(piece);
  if (in_products) {
    // read and written by the products
  } else if (part.gated) {
    // gate and up read, product written; not fused: the activated gate goes through memory.
    builder.pass(bytes * (fused ? 3 : 5), bytes * (fused ? 5 : 8), fused ? 1 : 2);
  } else {
    builder.pass(bytes * 2, bytes * 3);
  }
  builder.enter(around);
  builder.keep(bytes * (part.gated ? (fused ? 2 : 3) : 1));
}

void add_feed_forward(BlockBuilder& builder, const Slice& slice, const Layer& layer) {
  const std::int64_t tp = slice.layout.tp;
  const FeedForward& part = *layer.feed_forward;
  builder.serve(Module::feed_forward);
  if (!layer.parallel) {
    if (layer.norms > 0) add_norm(builder, slice);
    add_tensor_parallel_entry(builder, slice);
  }
  for (const Linear& matrix : linears(layer, slice.model.hidden)) {
    if (matrix.role == Role::feed_forward_up) {
      const double saved = std::min(slice.job.recipe->saved_input_bytes, slice.element);
      if (!layer.parallel) builder.keep(slice.input_rows * slice.hidden * saved, Piece::norm);
      builder.enter(Piece::feed_forward);
      builder.linear(matrix, tp, slice.tokens, 1, /*keep_input=*/false);
      add_activation(builder, slice, part,
                     slice.rows * static_cast<double>(part.width) / static_cast<double>(tp),
                     Piece::feed_forward, Piece::feed_forward);
    } else if (matrix.role == Role::feed_forward_down) {
      builder.linear(matrix, tp, slice.tokens);
      builder.enter(Piece::other);
    }
  }
  if (layer.parallel) return;  // summed with the attention's result before its one exit
  add_tensor_parallel_exit(builder, slice);
  add_residual(builder, slice);
}

// Biases of experts are added expert by expert outside the products, weighted, in fp32; with fused
// experts the first one inside.
static void add_expert_bias(BlockBuilder& builder, const Slice& slice, const Linear& matrix,
                            double elements) {
  if (!matrix.bias) return;
  builder.pass(elements * slice.habit.kernels.expert_bias_forward,
               elements * slice.habit.kernels.expert_bias_backward, 4);
}

void add_experts(BlockBuilder& builder, const Slice& slice, const Layer& layer) {
  const Experts& experts = *layer.experts;
  const Layout& layout = slice.layout;
  // Each rank routes its own part of the tokens: under sequence parallelism a tp-th.
  const double routed_rows = slice.norm_rows;
  const double active = static_cast<double>(experts.active);
  const double sent = routed_rows * active;  // copies of tokens leaving a rank
  // After the exchange a rank's experts hold what ep ranks sent, spread over ep ranks; a rank of an
  // expert-tensor group works on all tokens of the group.
  const double received = sent * static_cast<double>(layout.etp) * slice.job.expert_imbalance;
  const std::int64_t local = experts.count / layout.ep;
  const std::int64_t rows_each =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(received / static_cast<double>(local)));
  const double width = static_cast<double>(experts.each.width) / static_cast<double>(layout.etp);

  builder.serve(Module::experts);
  add_norm(builder, slice);
  const double token = slice.hidden * slice.element;
  builder.keep(slice.norm_rows * token);  // the input of router and permutation

  builder.enter(Piece::experts);
  builder.enter_routed(true);
  // Sort tokens by expert and back; backward the reverse.
  builder.pass((routed_rows + sent) * token, (routed_rows + sent) * token, 10);
  builder.pass((routed_rows + sent) * token, (routed_rows + sent) * token, 10);
  const bool exchanged = layout.ep > 1;
  const bool once = layout.dispatch == Dispatch::once;
  const bool gathered = layout.etp > 1;
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    if (exchanged) {  // to the experts and back [STEP-6]
      const double copies = once ? distinct(static_cast<double>(layout.ep), active) : active;
      builder.call(CollectiveOp::all_to_all, Group::ep, phase, routed_rows * copies * token,
                   HiddenBy::nothing, slice.activation, 2, once ? active : 1);
    }
    if (gathered) {
      builder.call(CollectiveOp::all_gather, Group::tp, phase, received * token, HiddenBy::nothing,
                   slice.activation);
      builder.call(CollectiveOp::reduce_scatter, Group::tp, phase, received * token,
                   HiddenBy::nothing, slice.activation);
    }
  }
  builder.enter_routed(false);
  builder.enter(Piece::other);
  // Shared experts and router see the tokens before the exchange.
  const bool shared = experts.shared_width > 0;
  if (shared) add_tensor_parallel_entry(builder, slice);
  for (const Linear& matrix : linears(layer, slice.model.hidden)) {
    switch (matrix.role) {
      case Role::router:
        builder.linear(matrix, 1, static_cast<std::int64_t>(routed_rows), 1, false);
        builder.pass(routed_rows * static_cast<double>(experts.count) * 4 * 4,
                     routed_rows * static_cast<double>(experts.count) * 4 * 3, 16);
        builder.keep(routed_rows * static_cast<double>(experts.count) * 8);
        break;
      case Role::expert_up:
        builder.enter(Piece::experts);
        builder.enter_routed(true);
        builder.linear(matrix, layout.etp, rows_each, local);
        if (!slice.job.fused_experts) {
          add_expert_bias(builder, slice, matrix, received * width * (experts.each.gated ? 2 : 1));
        }
        add_activation(builder, slice, experts.each, received * width, Piece::activation,
                       Piece::experts);
        break;
      case Role::expert_down:
        builder.linear(matrix, layout.etp, rows_each, local, true, Piece::activation);
        add_expert_bias(builder, slice, matrix, received * slice.hidden);
        // Results, where the router's weights multiply them after the second product and not
        // between the two.
        if (!slice.habit.kernels.weighs_between) builder.keep(received * token);
        builder.enter_routed(false);
        builder.enter(Piece::other);
        break;
      case Role::shared_up: {
        builder.enter(Piece::feed_forward);
        builder.linear(matrix, layout.tp, slice.tokens, 1, false);
        add_activation(
            builder, slice, experts.each,
            slice.rows * static_cast<double>(experts.shared_width) / static_cast<double>(layout.tp),
            Piece::feed_forward, Piece::feed_forward);
        break;
      }
      case Role::shared_down:
        builder.linear(matrix, layout.tp, slice.tokens);
        builder.enter(Piece::other);
        break;
      case Role::shared_gate:
        builder.linear(matrix, 1, slice.tokens, 1, false);
        break;
      default:
        break;
    }
  }
  if (shared) add_tensor_parallel_exit(builder, slice);
  add_residual(builder, slice);
}

// What one rank holds of a layer's attention, with half of the norms beside it.
static double attention_parameters(const Slice& slice, const Layer& layer) {
  if (!layer.attention) return 0;
  Layer alone = layer;
  alone.feed_forward.reset();
  alone.experts.reset();
  alone.norms = layer.parallel ? layer.norms : layer.norms / 2;
  const LayerParameters held = layer_parameters(slice.model, alone);
  return static_cast<double>(held.split) / static_cast<double>(slice.layout.tp) +
         static_cast<double>(held.replicated);
}

Block lower_layer(const Slice& slice, const Layer& layer, BlockKind kind) {
  BlockBuilder builder(slice, kind);
  if (layer.attention && layer.attention->linear) {
    add_linear_attention(builder, slice, layer);
  } else if (layer.attention) {
    add_attention(builder, slice, layer);
  }
  if (layer.feed_forward) add_feed_forward(builder, slice, layer);
  if (layer.experts) add_experts(builder, slice, layer);
  const int norms_added = (layer.attention ? 1 : 0) + (layer.parallel ? 0 : 1);
  for (std::int64_t i = norms_added; i < layer.norms; ++i) add_norm(builder, slice);

  if (slice.sequence_parallel) {
    // Whole, not split: what each half gathers, and its result before that is summed and split.
    const double halves = layer.attention && !layer.parallel ? 2 : 1;
    builder.work(halves * 2 * slice.rows * slice.hidden * slice.element);
  }

  const LayerParameters all = layer_parameters(slice.model, layer);
  HeldParameters held;
  held.dense = static_cast<double>(all.split) / static_cast<double>(slice.layout.tp) +
               static_cast<double>(all.replicated);
  held.experts =
      static_cast<double>(all.experts) / static_cast<double>(slice.layout.ep * slice.layout.etp);
  if (kind == BlockKind::prediction) {  // three norms, the projection of [hidden; embedding]
    held.dense += 2 * slice.hidden * slice.hidden / static_cast<double>(slice.layout.tp) +
                  3 * norm_parameters(slice.model);
    const Linear joint{Role::feed_forward_down, Split::column, 2 * slice.model.hidden,
                       slice.model.hidden, false};
    builder.linear(joint, slice.layout.tp, slice.tokens);
  }
  held.attention = held.dense > 0 ? attention_parameters(slice, layer) / held.dense : 0;
  held.attention_trained = held.attention;
  if (!slice.trains_weights) {  // rank · (in + out) of each matrix
    double adapters = 0, of_attention = 0;
    for (const Linear& matrix : linears(layer, slice.model.hidden)) {
      const bool expert = matrix.role == Role::expert_up || matrix.role == Role::expert_down;
      if (matrix.role == Role::router || matrix.role == Role::shared_gate) continue;
      if (!has_adapters(slice.job, matrix.role)) continue;
      const double copies =
          expert ? static_cast<double>(layer.experts->count / slice.layout.ep) : 1.0;
      const double adapter = copies *
                             static_cast<double>(slice.job.lora_rank * (matrix.in + matrix.out)) /
                             static_cast<double>(expert ? slice.layout.etp : slice.layout.tp);
      adapters += adapter;
      if (is_of_attention(matrix.role)) of_attention += adapter;
    }
    held.trained = adapters / (held.dense + held.experts);
    held.attention_trained = adapters > 0 ? of_attention / adapters : 0;
  }
  builder.hold(held);
  return builder.finish(slice.norm_rows * slice.hidden * slice.residual);
}

}  // namespace headway
