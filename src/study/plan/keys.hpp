// What is kept of blocks hangs on a key, made of whole parts of a layout. Who makes it is handed
// the layout that the key gives, in which all else is as in none: what is read but not in the key
// cannot matter. Internal to the planner.
#pragma once

#include "step/frameworks/habits.hpp"
#include "step/pieces.hpp"
#include "study/plan/kept_by.hpp"

namespace headway {

/// Full recomputation of several layers at once does the same work and makes the same calls for any
/// number of them, and keeps one input for all: two stand for any more.
constexpr std::int64_t kSeveral = 2;
inline bool stands_for_several(const Layout& layout) {
  return layout.recompute == Recompute::full && layout.recompute_every >= kSeveral &&
         layout.recompute_one_in == 1 && !layout.offload_activations;
}

/// Of the kernels of blocks, the calls of tensors and experts among them, and what blocks hold:
/// what they are lowered from.
struct WorkKey : LayerSplit, Recomputation {
  Around around;
  BlockChoice choice = BlockChoice::all;

  WorkKey() = default;
  WorkKey(const Job& job, const Layout& layout)
      : LayerSplit(layout), Recomputation(layout), around(headway::around(job, layout)) {
    if (stands_for_several(layout)) recompute_every = kSeveral;
  }
  friend bool operator==(const WorkKey&, const WorkKey&) = default;

  /// Of the blocks with experts, or of the others, which are the same for all spreads of experts.
  WorkKey of(BlockChoice chosen) const {
    WorkKey out = *this;
    out.choice = chosen;
    if (chosen != BlockChoice::without_experts) return out;
    out.ep = out.etp = 1;
    out.dispatch = LayerSplit().dispatch;
    return out;
  }
  /// Of the weights of blocks, which hang on no micro-batch.
  static WorkKey of_weights(const Layout& layout) {
    WorkKey out;
    out.tp = layout.tp;
    out.ep = layout.ep;
    out.etp = layout.etp;
    out.around.one_stage = layout.pp == 1;
    out.around.vocabulary_parts = vocabulary_parts(layout);
    return out;
  }
};

/// Of their prices where groups lie as they do: what is shared with other ranks besides.
struct PriceKey : Sharding, OverlapChoices, Offload {
  WorkKey work;
  bool shares = true;  // false: without the calls for that

  PriceKey() = default;
  PriceKey(const Job& job, const Layout& layout)
      : Sharding(layout), OverlapChoices(layout), Offload(layout), work(job, layout) {
    offload_optimizer = false;
    // Where nothing is sharded micro-batches share the loss alone: whether there are others to
    // share it with.
    if (work.around.shards_weights || offload_parameters) return;
    static_cast<Sharding&>(*this) = {.dp = layout.dp * layout.cp > 1 ? 2 : 1};
    overlap_gradients = overlap_parameters = Choice::framework;
  }
  friend bool operator==(const PriceKey&, const PriceKey&) = default;

  /// Of what costs no more, however weights are shared; its gradients are not those of sharded
  /// ones.
  PriceKey floor() const {
    PriceKey out;
    out.overlap_tensor = overlap_tensor;
    out.overlap_experts = overlap_experts;
    out.work = work;
    out.work.around.shards_weights = false;
    out.shares = false;
    return out;
  }
  Layout layout() const {
    PipelineSplit pipeline{.pp = work.around.one_stage ? 1 : 2};
    pipeline.split_vocabulary = work.around.splits_vocabulary();
    if (pipeline.split_vocabulary) pipeline.pp = work.around.vocabulary_parts;
    return {work, pipeline, *this, work, *this, *this};
  }
};

// Of every field: one more, and this does not compile.
inline std::uint64_t hash(const WorkKey& key) {
  // Of networks nothing else is searched here: their classes and tables are those of one layout.
  const auto& [tp, cp, ep, etp, micro_batch, sp, gathered, exchange, dispatch, tables, classes,
               node] = static_cast<const LayerSplit&>(key);
  static_cast<void>(tables);
  static_cast<void>(classes);
  const auto& [what, every, one_in, early, pieces] = static_cast<const Recomputation&>(key);
  return mixed(0, tp, cp, ep, etp, micro_batch, sp, gathered, exchange, dispatch, node, what, every,
               one_in, early, pieces, key.around.one_stage, key.around.shards_weights,
               key.around.vocabulary_parts, key.choice);
}
inline std::uint64_t hash(const PriceKey& key) {
  const auto& [dp, zero, shard, reshard, secondary, replicas] = static_cast<const Sharding&>(key);
  const auto& [gradients, parameters, tensor, experts] = static_cast<const OverlapChoices&>(key);
  const auto& [optimizer, activations, weights] = static_cast<const Offload&>(key);
  return mixed(hash(key.work), dp, zero, shard, reshard, secondary, gradients, parameters, tensor,
               experts, optimizer, activations, weights, key.shares);
}

}  // namespace headway
