// What runs beside what: the only place that decides under which computation a call may run.
#include "step/passes/passes.hpp"

namespace headway {
namespace {

// Of weights and gradients that are gathered and scattered block by block.
HiddenBy of_sharded(const Call& call, const Habits& habit, const OverlapChoices& choices) {
  const bool gathers = call.op == CollectiveOp::all_gather;
  if (!gathers && call.phase == Phase::forward) return HiddenBy::nothing;  // a sum for the log
  // What is fetched ahead is hidden.
  const bool overlapped = gathers ? chosen(choices.overlap_parameters,
                                           habit.overlap.parameters || habit.sharding.fetch > 0)
                                  : chosen(choices.overlap_gradients, habit.overlap.gradients);
  return overlapped ? HiddenBy::next_block : HiddenBy::nothing;
}

HiddenBy of_block(const Item& item, const Call& call, const Share& share,
                  const OverlapChoices& choices, bool splits_products) {
  if (item.flow == Flow::of_samples) return HiddenBy::nothing;
  if (item.flow == Flow::ahead) return HiddenBy::other_batch;
  switch (row_of(call.group).part) {
    case Part::dp:
      return of_sharded(call, share.habit, choices);
    case Part::ep:
      if (item.flow == Flow::of_tables) return HiddenBy::same_block;
      return choices.overlap_experts == Choice::on ? HiddenBy::other_batch : HiddenBy::nothing;
    case Part::pp:  // [STEP-26] of the vocabulary: its passes run as soon as what they need is
                    // there
      return HiddenBy::other_batch;
    default:
      break;
  }
  const bool beside_gradients = item.flow == Flow::into_weights || item.flow == Flow::of_input;
  if (item.flow == Flow::in_pieces || (beside_gradients && share.trains_weights)) {
    return HiddenBy::same_block;
  }
  const bool pieces = splits_products && call.group == Group::tp && call.phase != Phase::recompute;
  return pieces ? HiddenBy::pieces : HiddenBy::nothing;
}

}  // namespace

void overlap(std::vector<Item>& items, const Share& share, const OverlapChoices& choices,
             bool tp_shares_memory) {
  const bool splits_products =
      tp_shares_memory && chosen(choices.overlap_tensor, share.habit.overlap.tensor);
  for (Item& item : items) {
    auto* call = std::get_if<Call>(&item.what);
    if (call != nullptr) call->hidden_by = of_block(item, *call, share, choices, splits_products);
  }
}

void overlap(StageClass& stage, const Job& job, const Layout& layout) {
  const Habits& habit = habits(job);
  const bool at_once = layout.zero == 1 && habit.sharding.at_once;
  const bool reduces = chosen(layout.overlap_gradients, habit.overlap.gradients && !at_once);
  const bool gathers =
      !shards_weights(job, layout) && chosen(layout.overlap_parameters, habit.overlap.parameters);
  for (Item& item : stage.items) {
    auto* call = std::get_if<Call>(&item.what);
    if (call == nullptr) continue;
    const bool of_replicas = call->group == Group::dp || call->group == Group::expert_dp ||
                             call->group == Group::dp_replica || call->group == Group::copies;
    if (item.flow == Flow::between) {
      call->hidden_by = HiddenBy::pipeline;
    } else if (call->phase == Phase::gradient && of_replicas && reduces) {
      call->hidden_by = HiddenBy::backward;
    } else if (call->op == CollectiveOp::all_gather && of_replicas && gathers) {
      call->hidden_by = HiddenBy::forward;
    }
  }
}

}  // namespace headway
