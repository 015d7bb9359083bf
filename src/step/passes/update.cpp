// The optimiser: what it keeps and what it reads and writes.
#include "step/passes/update.hpp"

#include <algorithm>

#include "step/forward/tables.hpp"
#include "step/passes/passes.hpp"

namespace headway {

Bytes optimizer_state_bytes(const Job& job) {
  switch (job.optimizer) {
    case Optimizer::adam:
    case Optimizer::adamw:
      return Bytes(8);  // two fp32 moments
    case Optimizer::sgd:
      return Bytes(4);  // momentum
    case Optimizer::muon:
      return Bytes(4);  // momentum
    case Optimizer::adafactor:
      return Bytes(0);  // a row and a column a matrix: under 0.1 %
    case Optimizer::adam_8bit:
      return Bytes(2.03);  // two bytes, and a scale for each 256 elements
  }
  return Bytes(8);
}

double states_ranks(const Layout& layout) {
  return static_cast<double>(layout.shard > 0 ? layout.shard : ranks_of_replica(layout));
}

double expert_states_ranks(const Layout& layout) {
  const double ranks = static_cast<double>(layout.dp * layout.cp * layout.tp) /
                       static_cast<double>(layout.ep * layout.etp * replicas_of(layout));
  return std::max(1.0, ranks);
}

bool keeps_master(const Job& job) {
  return habits(job).memory.master_separate && job.recipe->master_weights;
}

// Values of tables of embeddings that a rank updates by themselves: of copies, each its own.
static double copied_values(const StageClass& stage, const Share& share) {
  double out = 0;
  for (std::size_t kind = 0; kind < share.model.kinds.size(); ++kind) {
    for (const NetworkModule& module : share.model.kinds[kind].modules) {
      const auto* bags = std::get_if<EmbeddingBags>(&module.shape);
      if (bags == nullptr || module.frozen) continue;
      out += static_cast<double>(stage.counts[kind]) * held_tables(share, *bags).copied;
    }
  }
  return out;
}

void update(StageClass& stage, const Share& share, const Layout& layout,
            const std::vector<Block>& blocks) {
  const double dense_share = layout.zero >= 1 ? states_ranks(layout) : 1.0;
  const double expert_share = layout.zero >= 1 ? expert_states_ranks(layout) : 1.0;
  const auto push = [&](const Op& op) { stage.items.push_back({.what = op}); };
  if (share.job.method.forward_only) return;  // it updates without a gradient
  double updated = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const HeldParameters& held = blocks[i].held;
    updated += static_cast<double>(stage.counts[i]) *
               (held.trained * (held.dense / dense_share + held.experts / expert_share) + held.own);
  }
  // [STEP-8] Bytes a parameter: read for the norm 4, scaled by the clipping factor 8; the update
  // reads the gradient 4 and reads and writes fp32 weight 8 and states. 16-bit gradients are first
  // written out in fp32, fp16 ones rescaled and checked; a separate copy for the products is
  // written anew.
  const Bytes gradient = gradient_bytes(share.job);
  Bytes must = Bytes(4 + 8 + 4 + 8) + 2 * optimizer_state_bytes(share.job);
  if (gradient < Bytes(4)) must += gradient + Bytes(4);
  if (share.job.recipe->activation == Precision::fp16) must += Bytes(8);
  if (keeps_master(share.job)) must += Bytes(4) + share.element;
  // [STEP-31] Rows of tables know neither norm nor momentum: a gradient is read, a value read and
  // written.
  const double copied = copied_values(stage, share) / dense_share;
  const Bytes of_rows = Bytes(4 + 8) * copied;
  const double others = (updated - copied) * share.habit.kernels.optimizer_passes;
  push({.shape = Pass{others * must + of_rows, !share.job.fused},
        .phase = Phase::optimizer,
        .kernels = 8});
  if (share.job.optimizer != Optimizer::muon) return;
  // Newton-Schulz: five iterations of three products on each matrix, spread over the ranks that
  // share the states (github.com/KellerJordan/Muon).
  for (std::size_t kind = 0; kind < share.model.kinds.size(); ++kind) {
    const Layer& layer = share.model.kinds[kind];
    for (const Linear& matrix : linears(layer, share.model.hidden)) {
      const bool expert = matrix.role == Role::expert_up || matrix.role == Role::expert_down;
      const double copies =
          expert ? static_cast<double>(layer.experts->count / layout.ep) / expert_share
                 : 1 / dense_share;
      const std::int64_t tp = expert ? layout.etp : layout.tp;
      const std::int64_t in = matrix.split == Split::row ? matrix.in / tp : matrix.in;
      const std::int64_t out = matrix.split == Split::column ? matrix.out / tp : matrix.out;
      const std::int64_t small = std::min(in, out);
      const std::int64_t large = std::max(in, out);
      const double each = static_cast<double>(stage.counts[kind]) * copies * 5;
      const auto batch = std::max<std::int64_t>(1, static_cast<std::int64_t>(each));
      for (const Matmul& product :
           {Matmul{small, small, large, batch}, Matmul{small, small, small, batch},
            Matmul{small, large, small, batch}}) {
        push({.shape = product,
              .phase = Phase::optimizer,
              .precision = share.activation,
              .kernels = static_cast<double>(batch)});
      }
    }
  }
}

}  // namespace headway
