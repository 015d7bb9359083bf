// Tensor and sequence parallelism (Megatron-LM, arXiv 1909.08053 §3 and 2205.05198 §4.2).
#include "step/block_builder.hpp"

namespace headway {

// What goes round is one activation: micro-batch · sequence / cp tokens of the hidden width
// [STEP-2]. Without sequence parallelism the entry is free forward and an all-reduce of its
// gradient backward; the exit is an all-reduce forward and free backward. With it, each all-reduce
// becomes a reduce-scatter on one side and an all-gather on the other, and the entry's input, kept
// split, is gathered once more for the weight gradient, under the product for the input gradient.

void add_tensor_parallel_entry(BlockBuilder& builder, const Slice& slice) {
  if (slice.layout.tp == 1) return;
  const double bytes = slice.rows * slice.hidden * slice.element;
  const Precision dtype = slice.activation;
  if (!slice.sequence_parallel) {
    // The gradient of the input is reduced while the weight gradient is computed.
    builder.call(CollectiveOp::all_reduce, Group::tp, Phase::backward, bytes,
                 slice.trains_weights ? HiddenBy::same_block : HiddenBy::nothing, dtype);
    return;
  }
  builder.call(CollectiveOp::all_gather, Group::tp, Phase::forward, bytes, HiddenBy::nothing,
               dtype);
  if (slice.trains_weights && !slice.layout.keep_gathered) {
    builder.call(CollectiveOp::all_gather, Group::tp, Phase::backward, bytes, HiddenBy::same_block,
                 dtype);
  }
  builder.call(CollectiveOp::reduce_scatter, Group::tp, Phase::backward, bytes,
               slice.trains_weights ? HiddenBy::same_block : HiddenBy::nothing, dtype);
}

void add_tensor_parallel_exit(BlockBuilder& builder, const Slice& slice) {
  if (slice.layout.tp == 1) return;
  const double bytes = slice.rows * slice.hidden * slice.element;
  const Precision dtype = slice.activation;
  if (!slice.sequence_parallel) {
    builder.call(CollectiveOp::all_reduce, Group::tp, Phase::forward, bytes, HiddenBy::nothing,
                 dtype);
    return;
  }
  builder.call(CollectiveOp::reduce_scatter, Group::tp, Phase::forward, bytes, HiddenBy::nothing,
               dtype);
  builder.call(CollectiveOp::all_gather, Group::tp, Phase::backward, bytes, HiddenBy::nothing,
               dtype);
}

}  // namespace headway
