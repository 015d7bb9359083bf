// The vocabulary split over the stages of a pipeline (arXiv 2411.05288).
#include "step/passes/passes.hpp"

namespace headway {

// [STEP-26] What the last stage has goes to all, and the parts of its gradient are summed for it;
// the parts of the embedding's result are summed for the first stage, and its gradient goes to all.
// No collective of a step sums for one rank alone: it is counted as one for all.
void split_vocabulary(Program& program, const Share& share) {
  if (!share.around.splits_vocabulary()) return;
  for (std::uint32_t i = 0; i < program.items.size(); ++i) {
    const auto* crossing = std::get_if<Crossing>(&program.items[i].what);
    if (crossing == nullptr) continue;
    Call call{.op = CollectiveOp::all_reduce,
              .group = Group::pp,
              .phase = Phase::forward,
              .dtype = share.activation,
              .bytes = crossing->tensor,
              .module = crossing->module};
    const auto by = [&](CollectiveOp op) {
      call.op = op;
      return call;
    };
    if (crossing->seam == Seam::from_stage) {
      program.conjugates.push_back({i, by(CollectiveOp::all_reduce)});
      program.items[i].what = by(CollectiveOp::broadcast);
    } else if (crossing->seam == Seam::to_stage) {
      program.conjugates.push_back({i, by(CollectiveOp::broadcast)});
      program.items[i].what = by(CollectiveOp::all_reduce);
    } else if (crossing->seam == Seam::stages) {
      // As over the tensor ranks: maximum, sum and target logit of each token.
      call.dtype = Precision::fp32;
      call.count = 3;
      program.items[i].what = call;
    }
  }
}

}  // namespace headway
