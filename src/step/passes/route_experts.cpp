// Expert parallelism: tokens go to the ranks that hold their experts, and back [STEP-6]; what
// samples read of tables of embeddings, likewise [STEP-29].
#include <optional>

#include "step/passes/crossings.hpp"
#include "step/passes/data_parallel.hpp"
#include "step/passes/passes.hpp"

namespace headway {
namespace {

struct Exchange {
  Group group;
  CollectiveOp forward, backward;
};

std::optional<Exchange> exchange_of(Seam seam, const LayerSplit& split) {
  using enum CollectiveOp;
  if (split.ep > 1 && (seam == Seam::dispatch || seam == Seam::combine)) {
    return Exchange{Group::ep, all_to_all, all_to_all};
  }
  // The ranks that hold a part of an expert each work on all tokens of the group.
  if (split.etp > 1 && seam == Seam::share) return Exchange{Group::tp, all_gather, reduce_scatter};
  if (split.etp > 1 && seam == Seam::sum) return Exchange{Group::tp, reduce_scatter, all_gather};
  return std::nullopt;
}

}  // namespace

void route_experts(Program& program, const Share& share) {
  for (std::uint32_t i = 0; i < program.items.size(); ++i) {
    const auto* crossing = std::get_if<Crossing>(&program.items[i].what);
    if (crossing == nullptr) continue;
    const auto exchange = exchange_of(crossing->seam, share.split);
    if (!exchange) continue;
    Call call{.op = exchange->backward,
              .group = exchange->group,
              .phase = Phase::forward,
              .dtype = share.activation,
              .bytes = crossing->tensor,
              .choices = crossing->choices,
              .module = crossing->module};
    program.conjugates.push_back({i, call});
    call.op = exchange->forward;
    program.items[i].what = call;
  }
}

// [STEP-32] Features that the next batch needs come half under the forward pass, half under the
// backward pass of this one.
void exchange_features(Program& program, const Share& share) {
  if (share.split.ep == 1) return;
  for_crossings(program, share, Group::ep,
                [&](std::uint32_t i, const Crossing& crossing, const Call& call) {
                  if (crossing.seam != Seam::features) return;
                  Call half = by(CollectiveOp::all_to_all, call);
                  half.bytes = call.bytes / 2;
                  program.conjugates.push_back({i, half, Flow::ahead});
                  program.items[i] = {.what = half, .flow = Flow::ahead};
                });
}

// Which rows of tables a rank's samples read goes to the tables' holders, the sums of these rows
// come back, and backward their gradients return [STEP-29].
void exchange_tables(Program& program, const Share& share) {
  if (share.split.ep == 1) return;
  const Flow pooled = share.habit.overlap.tables ? Flow::of_tables : Flow::chain;
  for_crossings(program, share, Group::ep,
                [&](std::uint32_t i, const Crossing& crossing, const Call& call) {
                  const bool indices = crossing.seam == Seam::indices;
                  if (!indices && crossing.seam != Seam::pooled) return;
                  if (indices && !share.habit.sharding.sends_indices) return;
                  Call exchange = by(CollectiveOp::all_to_all, call);
                  if (indices) {
                    exchange.dtype = Precision::fp32;
                  } else {
                    program.conjugates.push_back({i, exchange, pooled});
                  }
                  program.items[i] = {.what = exchange, .flow = indices ? Flow::chain : pooled};
                });
}

// [STEP-31] What a crossing of a class becomes: a call of the forward pass, one of the backward
// pass, or both.
void exchange_classes(Program& program, const Share& share) {
  if (!share.model.is_network()) return;
  using enum CollectiveOp;
  const Bytes gathered = gathered_bytes(share.job), reduced = reduced_bytes(share.job);
  for_crossings(program, share, Group::dp, [&](auto i, const Crossing& crossing, Call call) {
    call.group = crossing.group;
    const auto become = [&](CollectiveOp forward, CollectiveOp backward) {
      program.conjugates.push_back({i, by(backward, call), Flow::of_samples});
      program.items[i] = {.what = by(forward, call), .flow = Flow::of_samples};
    };
    Call of_gradients = call;
    of_gradients.bytes = call.bytes / gathered * reduced;
    of_gradients.dtype = wire_precision(reduced);
    switch (crossing.seam) {
      case Seam::scattered:
        return become(reduce_scatter, all_gather);
      case Seam::gathered:
        return become(all_gather, reduce_scatter);
      case Seam::exchanged:
        return become(all_to_all, all_to_all);
      case Seam::weights:
        program.conjugates.push_back({i, by(reduce_scatter, of_gradients)});
        program.items[i].what = by(all_gather, call);
        return;
      case Seam::again:
        program.conjugates.push_back({i, by(all_gather, call)});
        return;
      case Seam::gradients:
        program.conjugates.push_back({i, by(all_reduce, of_gradients)});
        return;
      default:
        return;
    }
  });
}

}  // namespace headway
