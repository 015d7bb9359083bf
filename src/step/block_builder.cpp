#include "step/block_builder.hpp"

namespace headway {

Slice::Slice(const Model& m, const Job& j, const Layout& l)
    : model(m),
      job(j),
      layout(l),
      habit(habits(j)),
      tokens(l.micro_batch * j.sequence / l.cp),
      rows(static_cast<double>(tokens)),
      norm_rows(rows / static_cast<double>(l.sequence_parallel ? l.tp : 1)),
      input_rows(l.keep_gathered ? rows : norm_rows),
      hidden(static_cast<double>(m.hidden)),
      element(bytes_per_element(j.recipe->activation)),
      residual(autocast(j) ? 4.0 : element),
      dropout(j.dropout >= 0 ? j.dropout : m.dropout),
      sequence_parallel(l.sequence_parallel && l.tp > 1),
      trains_weights(j.task != Task::lora),
      activation(j.recipe->activation) {}

BlockBuilder::BlockBuilder(const Slice& slice, BlockKind kind) : slice_(slice) {
  block_.kind = kind;
  block_.ops.reserve(48);
  block_.calls.reserve(16);
}

bool BlockBuilder::recomputes(Piece piece) const {
  const bool layer = block_.kind == BlockKind::layer || block_.kind == BlockKind::prediction;
  return layer && piece != Piece::other && slice_.layout.recompute == Recompute::selective &&
         (slice_.layout.recompute_pieces & bit(piece)) != 0;
}

void BlockBuilder::push(Op op) {
  if (op.phase == Phase::forward && recomputes(piece_)) op.recomputed = true;
  op.routed = routed_;
  block_.ops.push_back(std::move(op));
}

void BlockBuilder::linear(const Linear& matrix, std::int64_t split, std::int64_t rows,
                          std::int64_t copies, bool keep_input, Piece input) {
  const std::int64_t out = matrix.split == Split::column ? matrix.out / split : matrix.out;
  const std::int64_t in = matrix.split == Split::row ? matrix.in / split : matrix.in;
  const bool in_layer = block_.kind == BlockKind::layer || block_.kind == BlockKind::prediction;
  const bool quantised =
      in_layer && matrix.role != Role::router && matrix.role != Role::shared_gate;
  const Precision precision = quantised ? slice_.job.recipe->matmul : slice_.activation;

  // The library issues the products of a group one by one.
  const double kernels = copies > 1 ? 1 + kGroupedLaunch * static_cast<double>(copies) : 1;
  push({.shape = Matmul{rows, out, in, copies},
        .phase = Phase::forward,
        .precision = precision,
        .kernels = kernels});
  push({.shape = Matmul{rows, in, out, copies},
        .phase = Phase::backward,
        .precision = precision,
        .kernels = kernels});
  const double inputs = static_cast<double>(rows * copies) * static_cast<double>(in);
  const double outputs = static_cast<double>(rows * copies) * static_cast<double>(out);
  const double saved = quantised ? slice_.job.recipe->saved_input_bytes : slice_.element;
  if (slice_.trains_weights) {
    // The result is added to the resident gradients: by the product itself, which reads and writes
    // them, or by a pass that reads the product's own result, too.
    const double added = 2 * gradient_bytes(slice_.job);
    push({.shape = Matmul{out, in, rows, copies,
                          slice_.habit.kernels.fused_weight_gradient ? added : 0.0,
                          /*by_columns=*/true},
          .phase = Phase::backward,
          .precision = precision,
          .weight_gradient = true,
          .kernels = kernels});
    if (!slice_.habit.kernels.fused_weight_gradient) {
      weight_passes(matrix, static_cast<double>(copies) * static_cast<double>(in * out), outputs);
    }
    if (keep_input) keep(inputs * saved, input);
  } else if (has_adapters(slice_.job, matrix.role)) {
    // Adapters x·A·B beside the matrix: thin products, bound by reading and writing x and y.
    const double rank = static_cast<double>(slice_.job.lora_rank);
    const double thin = static_cast<double>(rows * copies) * rank;
    pass((inputs + 2 * outputs + 2 * thin) * slice_.element,
         (2 * inputs + 2 * outputs + 4 * thin) * slice_.element, 3);
    if (keep_input) keep((inputs + thin) * slice_.element, input);
  }
  const bool fused_casts = routed_ && slice_.job.fused_experts;
  if (quantised && !fused_casts && slice_.job.recipe->cast_passes > 0) {
    pass(inputs * slice_.job.recipe->cast_passes, outputs * slice_.job.recipe->cast_passes);
  }
}

// [STEP-15] What a framework that does not add in the product itself does with a weight's gradient.
void BlockBuilder::weight_passes(const Linear& matrix, double weights, double outputs) {
  const Job& job = slice_.job;
  const double gathered = gathered_bytes(job);
  double bytes = slice_.element + 2 * gradient_bytes(job);  // read, and added to the resident one
  if (slice_.habit.sharding.flat_gradients && shards_weights(job, slice_.layout)) {
    // Copied into the block's flat tensor, cast to the format of the wire, divided by the ranks.
    const double reduced = reduced_bytes(job);
    bytes = 2 * gathered + (reduced != gathered ? gathered + reduced : 0.0) + 2 * reduced;
  }
  double kernels = 1;
  if (autocast(job)) {
    // A 16-bit copy of the weight is made forward and kept for the backward pass; the 16-bit
    // gradient is cast to the weight's format.
    push({.shape = Pass{Bytes(weights * (4 + slice_.element)), true}, .phase = Phase::forward});
    keep(weights * slice_.element);
    bytes += weights > 0 ? slice_.element + 4 : 0;
    kernels += 1;
  }
  push({.shape = Pass{Bytes(weights * bytes), !job.fused},
        .phase = Phase::backward,
        .weight_gradient = true,
        .kernels = kernels});
  if (!job.fused && matrix.bias) {  // the bias' gradient: the output's gradients summed over tokens
    push({.shape = Pass{Bytes(outputs * slice_.element), true},
          .phase = Phase::backward,
          .weight_gradient = true});
  }
}

void BlockBuilder::attention(const AttentionShape& shape) {
  const bool unfused = slice_.job.attention == AttentionKernel::unfused;
  const bool core_again = recomputes(Piece::core);
  const Precision precision =
      slice_.job.attention_8_bit ? slice_.job.recipe->matmul : slice_.activation;
  // Unfused: scores, scale-mask-softmax, dropout, values; twice that backward.
  const double kernels = unfused ? (shape.dropout > 0 ? 4 : 3) : 1;
  push({.shape = shape,
        .phase = Phase::forward,
        .precision = precision,
        .recomputed = core_again,
        .kernels = kernels});
  push({.shape = shape,
        .phase = Phase::backward,
        .precision = precision,
        .kernels = unfused ? 2 * kernels : 2});
}

void BlockBuilder::pass(double forward_bytes, double backward_bytes, double kernels) {
  const bool eager = !slice_.job.fused;
  if (forward_bytes > 0) {
    push({.shape = Pass{Bytes(forward_bytes), eager}, .phase = Phase::forward, .kernels = kernels});
  }
  if (backward_bytes > 0) {
    push({.shape = Pass{Bytes(backward_bytes), eager},
          .phase = Phase::backward,
          .kernels = kernels});
  }
}

void BlockBuilder::call(CollectiveOp op, Group group, Phase phase, double bytes, HiddenBy hidden_by,
                        Precision dtype, double count, double choices) {
  block_.calls.push_back({.op = op,
                          .group = group,
                          .phase = phase,
                          .hidden_by = hidden_by,
                          .dtype = dtype,
                          .bytes = Bytes(bytes),
                          .count = count,
                          .choices = choices,
                          .module = module_});
  if (phase != Phase::forward || !recomputes(piece_)) return;
  block_.calls.push_back(Call(block_.calls.back()));
  block_.calls.back().phase = Phase::recompute;
}

void BlockBuilder::keep(double bytes, Piece piece) {
  (recomputes(piece) || recomputes(piece_) ? dropped_ : kept_) += bytes;
}

Block BlockBuilder::finish(double input_bytes) {
  block_.saved_if_kept = Bytes(kept_ + dropped_);
  block_.saved = Bytes(kept_);
  const bool layer = block_.kind == BlockKind::layer || block_.kind == BlockKind::prediction;
  if (layer && slice_.layout.recompute == Recompute::full) {
    // [STEP-16] Of several layers one: the others keep what they made.
    block_.again = 1 / static_cast<double>(slice_.layout.recompute_one_in);
    block_.saved =
        Bytes(block_.again * input_bytes / static_cast<double>(slice_.layout.recompute_every) +
              (1 - block_.again) * (kept_ + dropped_));
    // [STEP-16] The layer's result is not among what its backward pass reads: where recomputation
    // stops early, the last product and what follows it do not run again.
    const bool early = stops_recompute_early(slice_.job, slice_.layout);
    std::size_t end = block_.ops.size();
    const auto is_product = [&](const Op& op) {
      return op.phase == Phase::forward && std::holds_alternative<Matmul>(op.shape);
    };
    while (early && end > 0 && !is_product(block_.ops[end - 1])) --end;
    if (early && end > 0) --end;
    for (std::size_t i = 0; i < block_.ops.size(); ++i) {
      block_.ops[i].recomputed = i < end && block_.ops[i].phase == Phase::forward;
    }
    std::size_t calls = block_.calls.size();
    const auto sums_result = [&](const Call& call) {
      return call.phase == Phase::forward && call.group == Group::tp;
    };
    if (early && slice_.layout.tp > 1) {
      while (calls > 0 && !sums_result(block_.calls[calls - 1])) --calls;
      if (calls > 0) --calls;
    }
    for (std::size_t i = 0; i < calls; ++i) {
      if (block_.calls[i].phase != Phase::forward) continue;
      Call again = block_.calls[i];
      again.phase = Phase::recompute;
      again.count *= block_.again;
      block_.calls.push_back(again);
    }
  }
  return std::move(block_);
}

}  // namespace headway
