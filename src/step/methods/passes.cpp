// Methods that change what a rank does for a micro-batch.
#include <algorithm>

#include "step/methods/methods.hpp"
#include "step/passes/data_parallel.hpp"

namespace headway {
namespace {

bool is_backward(const Item& item) {
  const auto* op = std::get_if<Op>(&item.what);
  const auto* call = std::get_if<Call>(&item.what);
  return op != nullptr ? op->phase == Phase::backward
                       : call != nullptr && call->phase == Phase::backward;
}
bool is_forward(const Item& item) {
  const auto* op = std::get_if<Op>(&item.what);
  const auto* call = std::get_if<Call>(&item.what);
  return op != nullptr ? op->phase == Phase::forward
                       : call == nullptr || call->phase == Phase::forward;
}

}  // namespace

void run_passes(Block& block, const Method& method) {
  if (method.forward_only) {
    std::erase_if(block.items, [](const Item& item) { return !is_forward(item); });
    block.saved = block.saved_if_kept = Bytes(0);
    block.again = 1;
  }
  if (method.losses != Losses::of_pairs || !is_layer(block.kind)) return;
  // [METHOD-2] A layer lies in two pairs of stages; of the first and the last stage in one, which
  // set no pace.
  std::vector<Item> again;
  std::copy_if(block.items.begin(), block.items.end(), std::back_inserter(again), is_backward);
  block.items.insert(block.items.end(), again.begin(), again.end());
}

// [METHOD-4] Salimans et al. 2017 (1703.03864): a step compares P perturbed models, P/M on each of
// M replicas; of each, weights are read and written perturbed. Then P numbers go to all, and each
// rank makes the noise of every member anew, adding it to an fp32 sum that is read and written.
void compare_members(StageClass& stage, const Share& share, const Layout& layout, double updated) {
  const Method& method = share.job.method;
  const double replicas = static_cast<double>(replicas_of(layout));
  const double members = method.population > 0 ? static_cast<double>(method.population) : replicas;
  const double here = std::max(1.0, members / replicas);
  stage.items.push_back({.what = Op{.shape = Pass{stage.parameters * here * 2 * share.element},
                                    .phase = Phase::optimizer,
                                    .kernels = here}});
  push(stage, {.op = CollectiveOp::all_gather,
               .group = Group::world,
               .phase = Phase::gradient,
               .dtype = Precision::fp32,
               .bytes = members * Bytes(4)});
  stage.items.push_back({.what = Op{.shape = Pass{updated * members * Bytes(8)},
                                    .phase = Phase::optimizer,
                                    .kernels = members}});
}

}  // namespace headway
