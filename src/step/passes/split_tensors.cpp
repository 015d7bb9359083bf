// Tensor and sequence parallelism (Megatron-LM, arXiv 1909.08053 §3 and 2205.05198 §4.2).
#include "step/passes/crossings.hpp"
#include "step/passes/passes.hpp"

namespace headway {

// What goes round is one activation [STEP-2]. Without sequence parallelism the entry is free
// forward and an all-reduce of its gradient backward; the exit is an all-reduce forward and free
// backward. With it, each all-reduce becomes a reduce-scatter on one side and an all-gather on the
// other, and the entry's input, kept split, is gathered once more for the weights' gradients.
void split_tensors(Program& program, const Share& share) {
  if (share.split.tp == 1) return;
  const bool scattered = share.sequence_parallel;
  for_crossings(program, share, Group::tp, [&](auto i, const Crossing& crossing, const Call& call) {
    if (crossing.seam == Seam::entry) {
      if (scattered) {
        if (share.trains_weights && !share.split.keep_gathered) {
          program.conjugates.push_back({i, by(CollectiveOp::all_gather, call), Flow::into_weights});
        }
        program.conjugates.push_back({i, by(CollectiveOp::reduce_scatter, call), Flow::of_input});
        program.items[i].what = by(CollectiveOp::all_gather, call);
      } else {
        program.conjugates.push_back({i, call, Flow::of_input});
      }
    } else if (crossing.seam == Seam::exit) {
      if (scattered) program.conjugates.push_back({i, by(CollectiveOp::all_gather, call)});
      program.items[i].what = scattered ? by(CollectiveOp::reduce_scatter, call) : call;
    } else if (crossing.seam == Seam::vocabulary) {
      program.items[i].what = of_tokens(call);
    }
  });
}

}  // namespace headway
