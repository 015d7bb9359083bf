// ZeRO-3 and FSDP: weights gathered for each block and dropped again, gradients scattered, in every
// micro-batch.
#include <algorithm>
#include <cmath>
#include <utility>

#include "step/passes/buckets.hpp"
#include "step/passes/data_parallel.hpp"
#include "step/passes/quantize.hpp"

namespace headway {
namespace {

Module module_of(BlockKind kind) {
  if (kind == BlockKind::embedding) return Module::embedding;
  return kind == BlockKind::head ? Module::head : Module::layer;
}

// Adds calls of one block to it.
class BlockCalls {
 public:
  BlockCalls(Block& block, const Share& share, const Layout& layout)
      : block_(block), share_(share), layout_(layout), module_(module_of(block.kind)) {}

  void gather(Group group, Phase phase, double elements, double count = 1) {
    if (elements <= 0 || count <= 0) return;
    const bool second = layout_.secondary > 0 && phase == Phase::backward && group == Group::dp;
    Call call{.op = CollectiveOp::all_gather,
              .group = second ? Group::dp_secondary : group,
              .phase = phase,
              .dtype = share_.activation,
              .bytes = elements * gathered_bytes(share_.job),
              .count = count};
    if (!share_.job.quantized_weights) return push(call);
    call.dtype = Precision::fp8;
    call.bytes = elements * kQuantizedWeight;
    push(call);
    call.dtype = Precision::fp32;
    call.bytes = elements / kWeightsOfScale * kScale;
    push(call);
  }

  // [STEP-27] The gradient of one matrix in 4 bit, each rank of a node given its part of it, and
  // the sums of that to its owner on one of the nodes.
  void exchange(double elements, double count, double node) {
    if (elements <= 0 || count <= 0) return;
    for (const auto& [group, part] :
         {std::pair(Group::dp_node, elements), std::pair(Group::dp_nodes, elements / node)}) {
      Call call{.op = CollectiveOp::all_to_all,
                .group = group,
                .phase = Phase::backward,
                .dtype = Precision::fp4,
                .bytes = part * kQuantizedGradient,
                .count = count};
      push(call);
      call.dtype = Precision::fp32;
      call.bytes = std::sqrt(elements) * (part / elements) * kScale;  // of a square matrix
      push(call);
    }
  }

  void reduce(Group group, double elements, double count = 1) {
    if (elements <= 0 || count <= 0) return;
    Call call{.op = CollectiveOp::reduce_scatter,
              .group = group,
              .phase = Phase::backward,
              .dtype = wire_precision(reduced_bytes(share_.job)),
              .bytes = elements * reduced_bytes(share_.job),
              .count = count};
    push(call);
    if (layout_.shard > 0 && group == Group::dp) {  // hybrid: summed over replicas
      call.op = CollectiveOp::all_reduce;
      call.group = Group::dp_replica;
      call.bytes = call.bytes / static_cast<double>(layout_.shard);
      push(call);
    }
  }

  /// The calls that follow carry the weights of another kind of layer.
  void serve(Module module) { module_ = module; }

 private:
  void push(Call call) {
    call.module = call.group == Group::expert_dp ? Module::experts : module_;
    block_.items.push_back({.what = call});
  }

  Block& block_;
  const Share& share_;
  const Layout& layout_;
  Module module_;
};

// [STEP-19] A unit of FSDP is a block; its weights travel as one flat tensor. Embedding, head and
// final norm are the outermost unit, which stays gathered from its forward to its backward pass.
void shard_by_unit(std::vector<Block>& blocks, const Share& share, const Layout& layout) {
  const bool again = gathers_again(share.job, layout);
  const Block* head = nullptr;
  bool embedding = false;
  for (const Block& block : blocks) {
    if (block.kind == BlockKind::head) head = &block;
    embedding = embedding || block.kind == BlockKind::embedding;
  }
  const bool joined =
      share.habit.sharding.outer_unit && share.around.one_stage && head && embedding;
  for (Block& block : blocks) {
    const bool layer = is_layer(block.kind);
    const bool kept = !layer && share.habit.sharding.outer_unit;
    double gathered = block.held.dense, reduced = block.held.dense * block.held.trained;
    if (joined && block.kind == BlockKind::head) continue;
    if (joined && block.kind == BlockKind::embedding) {
      gathered += head->held.dense;
      reduced += head->held.dense * head->held.trained;
    }
    BlockCalls calls(block, share, layout);
    if (joined && block.kind == BlockKind::embedding) calls.serve(Module::ends);
    calls.gather(Group::dp, Phase::forward, gathered);
    if (again && !kept) calls.gather(Group::dp, Phase::backward, gathered);
    calls.reduce(Group::dp, reduced);
  }
}

// [STEP-20] DeepSpeed fetches tensor by tensor in the order of the pass, ahead of their use: a
// gather takes tensors until it has `fetch` parameters, whatever layer they are of. What is needed
// again within `reuse` parameters, each counted as often as it is passed on the way, is not
// dropped: forward, the end of the model. Gradients are scattered in buckets.
//
// Gathers and buckets go across blocks, so each block gets its share of all of them: their sums
// over the model are exact, a block's count need not be whole.
class Fetches {
 public:
  Fetches(const std::vector<Block>& blocks, const Share& share, const Layout& layout,
          const std::vector<Weights>& weights, const Spans& spans)
      : share_(share), layout_(layout), spans_(spans), blocks_(blocks), weights_(weights) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      fetched_.emplace_back();
      for (const TensorRun& run : weights[i].dense) {
        if (run.elements >= share.habit.sharding.resident) fetched_[i].add(run.elements, run.count);
      }
      number_.push_back(number_of(i));
      again_.push_back(0);
    }
    fetch_forward();
    fetch_backward();
    reduce();
  }

  void add_to(Block& block, std::size_t i) const {
    BlockCalls calls(block, share_, layout_);
    const double forward = fetched_[i].elements() / forward_.elements();
    for (const Bucket& gather : forward_) {
      calls.gather(Group::dp, Phase::forward, gather.elements, gather.count * forward);
    }
    const double backward = number_[i] > 0 ? again_[i] / number_[i] / backward_.elements() : 0;
    for (const Bucket& gather : backward_) {
      calls.gather(Group::dp, Phase::backward, gather.elements, gather.count * backward);
    }
    if (share_.job.quantized_gradients) return exchange(calls, weights_[i].dense);
    const double gradients = weights_[i].dense.elements() / reduced_.elements();
    for (const Bucket& bucket : reduced_) {
      calls.reduce(Group::dp, bucket.elements, bucket.count * gradients);
    }
  }

 private:
  // [STEP-27] Matrices one by one; vectors, the small tensors, are scattered as they are.
  void exchange(BlockCalls& calls, const TensorRuns& tensors) const {
    for (const TensorRun& run : tensors) {
      if (run.elements < share_.habit.sharding.resident) {
        calls.reduce(Group::dp, run.elements, run.count);
      } else {
        calls.exchange(run.elements, run.count, static_cast<double>(spans_.node.ranks));
      }
    }
  }

  double number_of(std::size_t i) const {
    const Model& model = share_.model;
    if (blocks_[i].kind == BlockKind::prediction) {
      return static_cast<double>(model.prediction_layers);
    }
    if (i >= model.kinds.size()) return 1;
    return static_cast<double>(
        std::count(model.pattern.begin(), model.pattern.end(), static_cast<std::uint8_t>(i)));
  }

  // Blocks in the order of the forward pass.
  std::vector<std::size_t> forward_order() const {
    std::vector<std::size_t> order;
    for (const BlockKind kind : {BlockKind::embedding, BlockKind::layer, BlockKind::head,
                                 BlockKind::prediction, BlockKind::vocabulary}) {
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        if (blocks_[i].kind == kind) order.push_back(i);
      }
    }
    return order;
  }

  void fetch_forward() {
    BucketFiller filler(share_.habit.sharding.fetch, Closing::reached);
    for (const std::size_t i : forward_order()) {
      TensorRuns forward;  // the filler goes from the last to the first
      for (int run = fetched_[i].size(); run-- > 0;) {
        forward.add(fetched_[i][run].elements, fetched_[i][run].count);
      }
      filler.add_layers(forward, number_[i]);
    }
    forward_ = filler.finish();
  }

  void fetch_backward() {
    if (!gathers_again(share_.job, layout_)) return;
    BucketFiller filler(share_.habit.sharding.fetch, Closing::reached);
    // On the way to its backward pass every later tensor is passed twice; with recomputation once
    // more.
    const bool full = layout_.recompute == Recompute::full;
    const double passes = full ? 2 + 1 / static_cast<double>(layout_.recompute_one_in) : 2;
    const double kept = share_.habit.sharding.reuse / passes;
    double after = 0;  // parameters behind, in the order of the forward pass
    std::vector<std::size_t> order = forward_order();
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      double left = number_[*i];
      for (; left > 0 && after < kept; --left) {
        const TensorRuns& tensors = weights_[*i].dense;
        for (int run = tensors.size(); run-- > 0;) {
          const double elements = tensors[run].elements;
          for (double tensor = 0; tensor < tensors[run].count; ++tensor) {
            if (after >= kept && elements >= share_.habit.sharding.resident) {
              filler.add(elements);
              again_[*i] += elements;
            }
            after += elements;
          }
        }
      }
      filler.add_layers(fetched_[*i], left);
      again_[*i] += left * fetched_[*i].elements();
    }
    backward_ = filler.finish();
  }

  void reduce() {
    BucketFiller filler(bucket_parameters(share_.job, layout_),
                        share_.habit.reduction.bucket_closes);
    std::vector<std::size_t> order = forward_order();
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      filler.add_layers(weights_[*i].dense, number_[*i]);
    }
    reduced_ = filler.finish();
  }

  const Share& share_;
  const Layout& layout_;
  const Spans& spans_;
  const std::vector<Block>& blocks_;
  const std::vector<Weights>& weights_;
  std::vector<TensorRuns> fetched_;  // of each block
  std::vector<double> number_;       // of each block in the model
  std::vector<double> again_;        // parameters of all its copies fetched for the backward pass
  BucketSizes forward_, backward_, reduced_;
};

bool fetches_tensors(const Share& share) {
  return share.habit.sharding.fetch > 0 && share.trains_weights;
}

}  // namespace

void shard_weights(std::vector<Block>& blocks, const Share& share, const Layout& layout,
                   const std::vector<Weights>& weights, const Spans& spans) {
  if (!share.around.shards_weights) return;
  if (fetches_tensors(share)) {
    const Fetches fetches(blocks, share, layout, weights, spans);
    for (std::size_t i = 0; i < blocks.size(); ++i) fetches.add_to(blocks[i], i);
  } else {
    shard_by_unit(blocks, share, layout);
  }
  for (Block& block : blocks) {  // routed experts over their own replicas
    BlockCalls calls(block, share, layout);
    calls.gather(Group::expert_dp, Phase::forward, block.held.experts);
    if (gathers_again(share.job, layout)) {
      calls.gather(Group::expert_dp, Phase::backward, block.held.experts);
    }
    calls.reduce(Group::expert_dp, block.held.experts * block.held.trained);
  }
}

void add_resident_gathers(StageClass& stage, const Share& share,
                          const std::vector<Weights>& weights) {
  if (!share.around.shards_weights || !fetches_tensors(share)) return;
  BucketSizes sizes;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    for (const TensorRun& run : weights[i].dense) {
      if (run.elements >= share.habit.sharding.resident) continue;
      sizes.add(run.elements, run.count * static_cast<double>(stage.counts[i]));
    }
  }
  for (const Bucket& tensors : sizes) {
    push(stage, {.op = CollectiveOp::all_gather,
                 .group = Group::dp,
                 .phase = Phase::optimizer,
                 .dtype = share.activation,
                 .bytes = tensors.elements * gathered_bytes(share.job),
                 .count = tensors.count,
                 .module = Module::stage});
  }
}

}  // namespace headway
