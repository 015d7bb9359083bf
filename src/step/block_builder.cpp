#include "step/block_builder.hpp"

namespace headway {

Slice::Slice(const Model& m, const Job& j, const Layout& l)
    : model(m),
      job(j),
      layout(l),
      habit(habits(j.framework)),
      tokens(l.micro_batch * j.sequence / l.cp),
      rows(static_cast<double>(tokens)),
      norm_rows(rows / static_cast<double>(l.sequence_parallel ? l.tp : 1)),
      input_rows(l.keep_gathered ? rows : norm_rows),
      hidden(static_cast<double>(m.hidden)),
      element(bytes_per_element(j.recipe->activation)),
      dropout(j.dropout >= 0 ? j.dropout : m.dropout),
      sequence_parallel(l.sequence_parallel && l.tp > 1),
      trains_weights(j.task != Task::lora),
      activation(j.recipe->activation) {}

BlockBuilder::BlockBuilder(const Slice& slice, BlockKind kind) : slice_(slice) {
  block_.kind = kind;
  block_.ops.reserve(48);
  block_.calls.reserve(16);
}

void BlockBuilder::linear(const Linear& matrix, std::int64_t split, std::int64_t rows,
                          std::int64_t copies, bool keep_input) {
  const std::int64_t out = matrix.split == Split::column ? matrix.out / split : matrix.out;
  const std::int64_t in = matrix.split == Split::row ? matrix.in / split : matrix.in;
  const bool in_layer = block_.kind == BlockKind::layer || block_.kind == BlockKind::prediction;
  const bool quantised =
      in_layer && matrix.role != Role::router && matrix.role != Role::shared_gate;
  const Precision precision = quantised ? slice_.job.recipe->matmul : slice_.activation;

  push({.shape = Matmul{rows, out, in, copies}, .phase = Phase::forward, .precision = precision});
  push({.shape = Matmul{rows, in, out, copies}, .phase = Phase::backward, .precision = precision});
  const double inputs = static_cast<double>(rows * copies) * static_cast<double>(in);
  const double outputs = static_cast<double>(rows * copies) * static_cast<double>(out);
  const double saved = quantised ? slice_.job.recipe->saved_input_bytes : slice_.element;
  if (slice_.trains_weights) {
    // The result is added to the resident gradients: by the product itself, which reads and writes
    // them, or by a pass that reads the product's own result, too.
    const double added = 2 * gradient_bytes(slice_.job);
    push({.shape = Matmul{out, in, rows, copies, slice_.habit.fused_weight_gradient ? added : 0.0},
          .phase = Phase::backward,
          .precision = precision,
          .weight_gradient = true});
    if (!slice_.habit.fused_weight_gradient) {
      const double weights = static_cast<double>(copies) * static_cast<double>(in * out);
      push({.shape = Pass{Bytes(weights * (slice_.element + added))},
            .phase = Phase::backward,
            .weight_gradient = true});
    }
    if (keep_input) keep(inputs * saved);
  } else {
    // Adapters x·A·B beside the matrix: thin products, bound by reading and writing x and y.
    const double rank = static_cast<double>(slice_.job.lora_rank);
    const double thin = static_cast<double>(rows * copies) * rank;
    pass((inputs + 2 * outputs + 2 * thin) * slice_.element,
         (2 * inputs + 2 * outputs + 4 * thin) * slice_.element, 3);
    if (keep_input) keep((inputs + thin) * slice_.element);
  }
  if (quantised && slice_.job.recipe->cast_passes > 0) {
    pass(inputs * slice_.job.recipe->cast_passes, outputs * slice_.job.recipe->cast_passes);
  }
}

void BlockBuilder::attention(const AttentionShape& shape) {
  const bool unfused = slice_.job.attention == AttentionKernel::unfused;
  const bool core_again = slice_.layout.recompute == Recompute::selective;
  // Unfused: scores, scale-mask-softmax, dropout, values; twice that backward.
  const double kernels = unfused ? (shape.dropout > 0 ? 4 : 3) : 1;
  push({.shape = shape,
        .phase = Phase::forward,
        .precision = slice_.activation,
        .recomputed = core_again,
        .kernels = kernels});
  push({.shape = shape,
        .phase = Phase::backward,
        .precision = slice_.activation,
        .kernels = unfused ? 2 * kernels : 2});
}

void BlockBuilder::pass(double forward_bytes, double backward_bytes, double kernels) {
  if (forward_bytes > 0) {
    push({.shape = Pass{Bytes(forward_bytes)}, .phase = Phase::forward, .kernels = kernels});
  }
  if (backward_bytes > 0) {
    push({.shape = Pass{Bytes(backward_bytes)}, .phase = Phase::backward, .kernels = kernels});
  }
}

void BlockBuilder::call(CollectiveOp op, Group group, Phase phase, double bytes, HiddenBy hidden_by,
                        Precision dtype, double count) {
  block_.calls.push_back({.op = op,
                          .group = group,
                          .phase = phase,
                          .hidden_by = hidden_by,
                          .dtype = dtype,
                          .bytes = Bytes(bytes),
                          .count = count});
}

void BlockBuilder::keep(double bytes, bool core) {
  (core ? kept_core_ : kept_) += bytes;
}

Block BlockBuilder::finish(double input_bytes) {
  block_.saved_if_kept = Bytes(kept_ + kept_core_);
  block_.saved = block_.saved_if_kept;
  const bool layer = block_.kind == BlockKind::layer || block_.kind == BlockKind::prediction;
  if (layer && slice_.layout.recompute == Recompute::selective) {
    block_.saved = Bytes(kept_);
  } else if (layer && slice_.layout.recompute == Recompute::full) {
    block_.saved = Bytes(input_bytes / static_cast<double>(slice_.layout.recompute_every));
    for (Op& op : block_.ops) op.recomputed = op.phase == Phase::forward;
    const std::size_t calls = block_.calls.size();
    for (std::size_t i = 0; i < calls; ++i) {
      if (block_.calls[i].phase != Phase::forward) continue;
      Call again = block_.calls[i];
      again.phase = Phase::recompute;
      block_.calls.push_back(again);
    }
  }
  return std::move(block_);
}

}  // namespace headway
