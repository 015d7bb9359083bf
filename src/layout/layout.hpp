// How a job is split over the ranks of a run.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "cluster/cluster.hpp"
#include "layout/job.hpp"
#include "layout/parts.hpp"
#include "layout/placement.hpp"
#include "model/model.hpp"

namespace headway {

/// All parts together; a pass that reads some takes a layout, too.
struct Layout : LayerSplit, PipelineSplit, Sharding, Recomputation, OverlapChoices, Offload, Grid {
  Layout() = default;
  // Of one part alone none is made: who needs more is not handed defaults.
  Layout(const LayerSplit& split, const PipelineSplit& pipeline, const Sharding& sharding = {},
         const Recomputation& again = {}, const OverlapChoices& overlap = {},
         const Offload& offload = {}, const Grid& grid = {})
      : LayerSplit(split),
        PipelineSplit(pipeline),
        Sharding(sharding),
        Recomputation(again),
        OverlapChoices(overlap),
        Offload(offload),
        Grid(grid) {}

  std::int64_t ranks() const { return dp * tp * cp * pp; }
  /// Of the model, in its pipelines.
  std::int64_t copies() const { return pp > 1 ? copies_of_model(schedule) : 1; }
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// Different kinds of layer that a step can be lowered for.
constexpr std::size_t kMostLayerKinds = 8;

/// What a layout has of the job's method.
void follow(const Method& method, Layout& layout);

/// Parts of dp that have weights of their own between meetings, and the ranks of one of them that
/// hold the same dense weights.
std::int64_t replicas_of(const Layout& layout);
std::int64_t ranks_of_replica(const Layout& layout);

/// Micro-batches each rank runs in one step.
std::int64_t micro_batches(const Job& job, const Layout& layout);

/// The degree of one dimension, and the distance in global ranks between neighbours along it.
std::int64_t degree(const Layout& layout, Dimension dimension);
std::int64_t stride(const Layout& layout, Dimension dimension);

/// Where each group lies on the levels.
struct Spans {
  GroupSpan tp, cp, pp, ep, etp;
  GroupSpan dp;         // the ranks that hold the same dense weights of a copy: dp·cp of a replica
  GroupSpan expert_dp;  // the same expert weights of a copy: dp·cp·tp / (ep·etp)
  GroupSpan shard;      // one sharding group inside dp (HSDP); equals dp where not hybrid
  GroupSpan replica;    // across sharding groups
  GroupSpan secondary;  // the ranks inside dp that share a second copy of the weights (ZeRO++)
  GroupSpan node;       // the ranks of dp on one node
  GroupSpan nodes;      // those of them that stand at the same place of their nodes
  GroupSpan copies;     // of two copies of the model: half a pipeline apart in the mean
  GroupSpan model;      // the ranks that together hold one copy of the model: tp·pp
  GroupSpan world;      // all ranks
  GroupSpan meeting;    // the ranks at the same place of all replicas that meet seldom
};

Spans spans(const Layout& layout, const Cluster& cluster);

/// The ranks of a node, where replicas alone fill several; else 1.
std::int64_t replicas_on_node(const Layout& layout, const Cluster& cluster);

/// Chunks of layers along the pipeline of one copy of the model: pp·vpp, of a folded one 2·pp; and
/// the stage that has one of them.
std::int64_t chunks_of_model(const PipelineSplit& pipeline);
std::int64_t stage_of_chunk(const PipelineSplit& pipeline, std::int64_t chunk);

/// The first layer of a chunk; of the one behind the last, their number. Layers that do not divide
/// evenly are spread so that earlier chunks hold one more.
std::int64_t chunk_begin(std::int64_t layers, const Layout& layout, std::int64_t chunk);

/// Pipeline stages balanced by the weights that their products read, the head's among them
/// [STEP-13].
struct BalancedStages {
  std::vector<std::int64_t> begins;  // the first layer of each; at the end the number of layers
  std::int64_t head = 0;             // the stage at which the head's weights come; it may be before
                          // the last where one stage's share is less than a layer or head
};
BalancedStages balanced_stages(const Model& model, std::int64_t stages);
/// The first layer of each chunk of the model, and behind the last their number [STEP-13].
/// `balanced`: where neither virtual stages nor layers of the ends are given, by their weights.
std::vector<std::int64_t> chunk_begins(const Model& model, const Layout& layout, bool balanced);

}  // namespace headway
