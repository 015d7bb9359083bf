// Expert parallelism: tokens go to the ranks that hold their experts, and back [STEP-6].
#include <optional>

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

}  // namespace headway
