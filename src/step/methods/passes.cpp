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

// [METHOD-6] Trained in K parts, each to labels at its cut and with the machine to itself (SIL,
// 2403.11204): every part but the last runs forward once more over the data, for the next one's
// input, in E passes over them 1/E of it a step; and at each cut the labels, random numbers that
// are made anew, are read, compared with what came, and its gradient written.
void train_in_parts(Block& block, const Share& share) {
  const Method& method = share.job.method;
  const auto parts = static_cast<double>(method.parts);
  if (block.kind == BlockKind::head) return;
  if (is_layer(block.kind)) {
    const double again = (parts - 1) / parts / static_cast<double>(method.epochs);
    std::vector<Item> frozen;
    for (const Item& item : block.items) {
      if (!is_forward(item)) continue;
      Item copy = item;
      if (auto* op = std::get_if<Op>(&copy.what)) {
        op->times *= again;
        op->kernels *= again;
        op->recomputed = true;
      } else if (auto* call = std::get_if<Call>(&copy.what)) {
        call->count *= again;
      }
      frozen.push_back(copy);
    }
    block.items.insert(block.items.end(), frozen.begin(), frozen.end());
    return;
  }
  const Bytes cut = share.rows * share.hidden * share.element;
  block.items.push_back({.what = Op{.shape = Pass{3 * (parts - 1) * cut},
                                    .phase = Phase::forward,
                                    .kernels = 2 * (parts - 1)}});
}

// [METHOD-8] What hardware leaves out of a layer's products by [LAW-17]: 2:4 halves those that read
// weights, blocks shorten all three. Known error: activations are counted as moved as little.
void leave_out_zeros(Block& block, const Sparsity& sparsity) {
  const double reads = sparse_shares(sparsity).inference;
  const double of_gradient = sparsity.form == SparsityForm::blocks ? reads : 1;
  for (Item& item : block.items) {
    auto* op = std::get_if<Op>(&item.what);
    if (op == nullptr || !std::holds_alternative<Matmul>(op->shape)) continue;
    op->times *= op->weight_gradient ? of_gradient : reads;
  }
}

}  // namespace

void run_passes(Block& block, const Share& share) {
  const Method& method = share.job.method;
  if (method.parts > 1) train_in_parts(block, share);
  if (method.sparsity.density < 1 && is_layer(block.kind)) leave_out_zeros(block, method.sparsity);
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
