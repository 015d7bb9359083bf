// Data parallelism and ZeRO-0 to 2 (arXiv 1910.02054): what is reduced and gathered once a step, in
// which calls.
#include <algorithm>
#include <cmath>

#include "step/passes/buckets.hpp"
#include "step/passes/data_parallel.hpp"
#include "step/passes/update.hpp"

namespace headway {
namespace {

// The tensors of one pipeline stage that are reduced over one group: routed experts over theirs.
class StageTensors {
 public:
  StageTensors(const StageClass& stage, const std::vector<Block>& blocks,
               const std::vector<Weights>& weights, bool experts)
      : stage_(stage), blocks_(blocks), weights_(weights), experts_(experts) {}

  double elements() const {
    double sum = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) sum += count(i) * runs(i).elements();
    return sum;
  }

  double tensors() const {
    double sum = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      for (const TensorRun& run : runs(i)) sum += count(i) * run.count;
    }
    return sum;
  }

  // Whether every chunk holds as many layers of each kind.
  bool divide(double chunks) const {
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (is_layer(i) && std::fmod(count(i), chunks) != 0) return false;
    }
    return true;
  }

  // Copied tables: their gradients are reduced by themselves.
  void add_tables(BucketSizes& out) const {
    double values = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) values += count(i) * weights_[i].tables;
    if (!experts_ && values > 0.5) out.add(values);
  }

  // Of the layers alone.
  double in_layers() const {
    double sum = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (is_layer(i)) sum += count(i) * runs(i).elements();
    }
    return sum;
  }

  // Puts them into buckets from the last of the forward pass to its first, of the layers one in
  // `chunks`.
  BucketSizes fill(BucketFiller filler, double chunks) const {
    for (std::size_t i = weights_.size(); i-- > 0;) {  // prediction modules and head
      if (!is_layer(i) && blocks_[i].kind != BlockKind::embedding) {
        filler.add_layers(runs(i), count(i));
      }
    }
    for (std::size_t i = weights_.size(); i-- > 0;) {
      if (is_layer(i)) filler.add_layers(runs(i), count(i) / chunks);
    }
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (blocks_[i].kind == BlockKind::embedding) filler.add_layers(runs(i), count(i));
    }
    return filler.finish();
  }

 private:
  bool is_layer(std::size_t i) const { return blocks_[i].kind == BlockKind::layer; }
  double count(std::size_t i) const { return static_cast<double>(stage_.counts[i]); }
  const TensorRuns& runs(std::size_t i) const {
    return experts_ ? weights_[i].experts : weights_[i].dense;
  }

  const StageClass& stage_;
  const std::vector<Block>& blocks_;
  const std::vector<Weights>& weights_;
  bool experts_;
};

// [STEP-18] Calls of a stage's gradients, in the order in which they begin.
BucketSizes gradient_buckets(const StageClass& stage, const Share& share, const Layout& layout,
                             const StageTensors& tensors) {
  const Habits& habit = share.habit;
  const double limit = bucket_parameters(share.job, layout);
  const Closing closing = layout.zero >= 1 ? habit.reduction.bucket_closes : Closing::reached;
  const BucketFiller filler(limit, closing, first_bucket_parameters(share.job, layout));
  if (!habit.reduction.first_stage_buckets || layout.pp == 1) {
    BucketSizes out = tensors.fill(filler, 1);
    tensors.add_tables(out);
    return out;
  }
  // Nobody waits for the gradients of later stages and chunks: they end while the first chunk of
  // the first stage runs, and each is one buffer.
  const double chunks = static_cast<double>(layout.vpp);
  const double later = tensors.in_layers() / chunks;
  BucketSizes out;
  out.add(later, chunks - 1);
  const double rest = tensors.elements() - out.elements();
  if (stage.first > 0 || limit <= 0 || !tensors.divide(chunks)) {
    out.add(rest);
    return out;
  }
  for (const Bucket& bucket : tensors.fill(filler, chunks)) out.add(bucket.elements, bucket.count);
  return out;
}

// Calls of the updated weights, in the order in which the next forward pass needs them.
BucketSizes weight_buckets(const Share& share, const BucketSizes& gradients, double ranks) {
  const WeightGathers gathers = share.habit.sharding.gathers;
  BucketSizes out;
  if (gathers == WeightGathers::buckets) {
    for (int i = gradients.size(); i-- > 0;) out.add(gradients[i].elements, gradients[i].count);
    return out;
  }
  const double elements = gradients.elements();
  if (gathers == WeightGathers::whole) {
    out.add(elements);
    return out;
  }
  // Of the habit's size, whatever is stated for gradients; the last takes what is left.
  const double pieces = std::max(1.0, std::floor(elements / share.habit.reduction.bucket));
  const double piece = ranks * 2 * std::floor(elements / ranks / pieces / 2);
  out.add(piece, pieces - 1);
  out.add(elements - piece * (pieces - 1));
  return out;
}

}  // namespace

Precision wire_precision(Bytes gradient) {
  return gradient > Bytes(2) ? Precision::fp32 : Precision::bf16;
}

// [STEP-10] What is reduced and gathered once a step at ZeRO 0 to 2; ZeRO-3 does it for every
// micro-batch (weight_sharding.cpp).
void reduce_gradients(StageClass& stage, const Share& share, const Layout& layout,
                      const std::vector<Block>& blocks, const std::vector<Weights>& weights,
                      const Spans& spans) {
  const Habits& habit = share.habit;
  if (share.around.shards_weights || share.job.method.forward_only) return;
  const bool at_once = layout.zero == 1 && habit.sharding.at_once;
  const bool scatter = layout.zero >= 1 && habit.reduction.by == GradientReduction::reduce_scatter;
  const bool hybrid = layout.shard > 0 && layout.zero >= 1;
  const Bytes reduced = reduced_bytes(share.job);
  const Precision wire = wire_precision(reduced);
  const double times = layout.zero == 2 && habit.reduction.each_micro_batch
                           ? static_cast<double>(micro_batches(share.job, layout))
                           : 1.0;
  double tensors = 0;
  for (const Group group : {Group::dp, Group::expert_dp}) {
    const Module module = group == Group::dp ? Module::stage : Module::experts;
    const StageTensors held(stage, blocks, weights, group == Group::expert_dp);
    tensors += at_once ? held.tensors() : 0;
    const std::int64_t sharing = group == Group::dp ? spans.dp.ranks : spans.expert_dp.ranks;
    if (sharing == 1) continue;
    const BucketSizes gradients = gradient_buckets(stage, share, layout, held);
    Call call{.op = scatter ? CollectiveOp::reduce_scatter : CollectiveOp::all_reduce,
              .group = group,
              .phase = Phase::gradient,
              .dtype = wire,
              .bytes = {},
              .module = module};
    for (const Bucket& bucket : gradients) {
      call.bytes = bucket.elements * reduced;
      call.count = times * bucket.count;
      push(stage, call);
    }
    if (hybrid && group == Group::dp) {
      call.op = CollectiveOp::all_reduce;
      call.group = Group::dp_replica;
      for (const Bucket& bucket : gradients) {
        call.bytes = bucket.elements / static_cast<double>(layout.shard) * reduced;
        call.count = times * bucket.count;
        push(stage, call);
      }
    }
    if (layout.zero == 0) continue;
    const auto owners = static_cast<double>(hybrid && group == Group::dp ? layout.shard : sharing);
    for (const Bucket& bucket : weight_buckets(share, gradients, owners)) {
      push(stage, {.op = CollectiveOp::all_gather,  // back to every rank
                   .group = group,
                   .phase = Phase::optimizer,
                   .dtype = share.activation,
                   .bytes = bucket.elements * share.element,
                   .count = bucket.count,
                   .module = module});
    }
  }
  const std::int64_t ranks = layout.dp * layout.cp;
  if (at_once && ranks > 1) stage.pieces = tensors * static_cast<double>(ranks);
}

// [STEP-10] The other copy's rank has half of the micro-batches of the same two stages.
void add_copies(StageClass& stage, const Share& share, const Layout& layout,
                const std::vector<Block>& blocks, const std::vector<Weights>& weights) {
  if (layout.copies() == 1) return;
  const Bytes reduced = reduced_bytes(share.job);
  for (const bool experts : {false, true}) {
    const StageTensors held(stage, blocks, weights, experts);
    const double ranks = experts ? expert_states_ranks(layout) : states_ranks(layout);
    const double elements = held.elements() / (layout.zero >= 1 ? ranks : 1.0);
    if (!(elements > 0)) continue;
    push(stage, {.op = CollectiveOp::all_reduce,
                 .group = Group::copies,
                 .phase = Phase::gradient,
                 .dtype = wire_precision(reduced),
                 .bytes = elements * reduced,
                 .module = experts ? Module::experts : Module::stage});
  }
}

}  // namespace headway
