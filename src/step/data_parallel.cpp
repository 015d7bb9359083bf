// Data parallelism and ZeRO (arXiv 1910.02054): what is reduced and gathered, by stage and
// framework.
#include <algorithm>
#include <cmath>

#include "step/block_builder.hpp"

namespace headway {
namespace {

struct Trained {
  double dense = 0;    // parameters on the rank, reduced over dp
  double experts = 0;  // reduced over expert_dp
};

Trained trained_on(const StageClass& stage, const std::vector<Block>& blocks) {
  Trained out;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const double count = static_cast<double>(stage.counts[i]) * blocks[i].held.trained;
    out.dense += count * blocks[i].held.dense;
    out.experts += count * blocks[i].held.experts;
  }
  return out;
}

Precision wire_precision(double bytes) {
  return bytes > 2 ? Precision::fp32 : Precision::bf16;
}

// Cuts `bytes` of `matrices` into calls of the framework's bucket size; a bucket holds whole ones.
void push_bucketed(StageClass& stage, Call call, Bytes bytes, Bytes bucket, double matrices) {
  if (bytes.value() <= 0) return;
  const double calls =
      bucket.value() > 0 ? std::min(std::ceil(bytes / bucket), std::max(1.0, matrices)) : 1;
  call.bytes = bytes / calls;
  call.count *= calls;
  stage.calls.push_back(call);
}

// Weight tensors of a stage's rank.
struct Tensors {
  double matrices = 0, norms = 0;
};

Tensors tensors_of(const StageClass& stage, const Slice& slice) {
  Tensors out;
  for (std::size_t i = 0; i < stage.counts.size(); ++i) {
    const double count = static_cast<double>(stage.counts[i]);
    if (i >= slice.model.kinds.size()) {
      out.matrices += count;  // a table
      continue;
    }
    const Layer& layer = slice.model.kinds[i];
    out.norms += count * static_cast<double>(layer.norms);
    for (const Linear& matrix : linears(layer, slice.model.hidden)) {
      const bool expert = matrix.role == Role::expert_up || matrix.role == Role::expert_down;
      out.matrices +=
          count * (expert ? static_cast<double>(layer.experts->count / slice.layout.ep) : 1.0);
    }
  }
  return out;
}

}  // namespace

void add_weight_sharding(Block& block, const Slice& slice) {
  if (!shards_weights(slice.job, slice.layout)) return;
  const Habits& habit = slice.habit;
  const bool overlap_gather = chosen(slice.layout.overlap_parameters, habit.overlap_parameters);
  const bool overlap_reduce = chosen(slice.layout.overlap_gradients, habit.overlap_gradients);
  const auto shard = [&](Group group, double parameters) {
    if (parameters <= 0) return;
    const Bytes gathered(parameters * gathered_bytes(slice.job));
    const Bytes reduced(parameters * block.held.trained * reduced_bytes(slice.job));
    const HiddenBy hide = overlap_gather ? HiddenBy::next_block : HiddenBy::nothing;
    const Precision dtype = slice.activation;
    block.calls.push_back({CollectiveOp::all_gather, group, Phase::forward, hide, dtype, gathered});
    if (gathers_again(slice.job, slice.layout)) {
      block.calls.push_back(
          {CollectiveOp::all_gather, group, Phase::backward, hide, dtype, gathered});
    }
    if (reduced.value() > 0) {
      const HiddenBy under = overlap_reduce ? HiddenBy::next_block : HiddenBy::nothing;
      const Precision wire = wire_precision(reduced_bytes(slice.job));
      block.calls.push_back(
          {CollectiveOp::reduce_scatter, group, Phase::backward, under, wire, reduced});
      if (slice.layout.shard > 0 &&
          group == Group::dp) {  // hybrid: shards are summed over replicas
        block.calls.push_back({CollectiveOp::all_reduce, Group::dp_replica, Phase::backward, under,
                               wire, reduced / static_cast<double>(slice.layout.shard)});
      }
    }
  };
  shard(Group::dp, block.held.dense);
  shard(Group::expert_dp, block.held.experts);
}

// [STEP-10] What is reduced and gathered once a step at ZeRO 0 to 2; ZeRO-3 does it for every
// micro-batch, above.
void add_step_calls(StageClass& stage, const Slice& slice, const std::vector<Block>& blocks,
                    bool first, bool last) {
  const Habits& habit = slice.habit;
  const Layout& layout = slice.layout;
  const Trained trained = trained_on(stage, blocks);
  const bool at_once = layout.zero == 1 && habit.sharded_at_once;
  const Bytes bucket = at_once ? Bytes(0) : habit.bucket;
  const HiddenBy under_backward =
      chosen(layout.overlap_gradients, habit.overlap_gradients && !at_once) ? HiddenBy::backward
                                                                            : HiddenBy::nothing;
  const HiddenBy under_forward = chosen(layout.overlap_parameters, habit.overlap_parameters)
                                     ? HiddenBy::forward
                                     : HiddenBy::nothing;
  if (!shards_weights(slice.job, layout)) {
    const bool scatter = layout.zero >= 1 && habit.reduction == GradientReduction::reduce_scatter;
    const bool hybrid = layout.shard > 0 && layout.zero >= 1;
    const std::int64_t micro = micro_batches(slice.job, layout);
    const double times =
        layout.zero == 2 && habit.gradients_each_micro_batch ? static_cast<double>(micro) : 1.0;
    const Tensors tensors = tensors_of(stage, slice);
    const auto reduce = [&](Group group, double parameters) {
      const Bytes reduced(parameters * reduced_bytes(slice.job));
      const Precision wire = wire_precision(reduced_bytes(slice.job));
      push_bucketed(stage,
                    {scatter ? CollectiveOp::reduce_scatter : CollectiveOp::all_reduce, group,
                     Phase::gradient, under_backward, wire, Bytes(0), times},
                    reduced, bucket, tensors.matrices);
      if (hybrid && group == Group::dp) {
        push_bucketed(stage,
                      {CollectiveOp::all_reduce, Group::dp_replica, Phase::gradient, under_backward,
                       wire, Bytes(0), times},
                      reduced / static_cast<double>(layout.shard), bucket, tensors.matrices);
      }
      if (layout.zero >= 1) {  // updated weights back to every rank
        push_bucketed(stage,
                      {CollectiveOp::all_gather, group, Phase::optimizer, under_forward,
                       slice.activation, Bytes(0)},
                      Bytes(parameters * slice.element), bucket, tensors.matrices);
      }
    };
    reduce(Group::dp, trained.dense);
    reduce(Group::expert_dp, trained.experts);
    const std::int64_t ranks = layout.dp * layout.cp;
    if (at_once && ranks > 1) {
      stage.pieces = (tensors.matrices + tensors.norms) * static_cast<double>(ranks);
    }
  }
  if (slice.model.tied_embeddings && layout.pp > 1 && (first || last) && slice.trains_weights) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].kind != BlockKind::embedding) continue;
      stage.calls.push_back({CollectiveOp::all_reduce, Group::embedding, Phase::gradient,
                             HiddenBy::nothing, wire_precision(reduced_bytes(slice.job)),
                             Bytes(blocks[i].held.dense * reduced_bytes(slice.job))});
    }
  }
  // The gradient norm: one number summed over all ranks.
  stage.calls.push_back({CollectiveOp::all_reduce, Group::dp, Phase::optimizer, HiddenBy::nothing,
                         Precision::fp32, Bytes(4)});
}

}  // namespace headway
