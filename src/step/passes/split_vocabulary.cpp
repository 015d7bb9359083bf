// The vocabulary split over the stages of a pipeline (arXiv 2411.05288).
#include "step/passes/crossings.hpp"
#include "step/passes/passes.hpp"

namespace headway {

// [STEP-26] What the last stage has goes to all, and the parts of its gradient are summed for it;
// the parts of the embedding's result are summed for the first stage, and its gradient goes to all.
// No collective of a step sums for one rank alone: it is counted as one for all.
void split_vocabulary(Program& program, const Share& share) {
  if (!share.around.splits_vocabulary()) return;
  for_crossings(program, share, Group::pp, [&](auto i, const Crossing& crossing, const Call& call) {
    if (crossing.seam == Seam::from_stage) {
      program.conjugates.push_back({i, call});
      program.items[i].what = by(CollectiveOp::broadcast, call);
    } else if (crossing.seam == Seam::to_stage) {
      program.conjugates.push_back({i, by(CollectiveOp::broadcast, call)});
      program.items[i].what = call;
    } else if (crossing.seam == Seam::stages) {
      program.items[i].what = of_tokens(call);
    }
  });
}

}  // namespace headway
