// Recordings made of what a run is expected to call: what a perfect run would leave. Tests only.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "study/reconcile/expected.hpp"

namespace headway::testing {

/// What a recording says of its groups.
enum class GroupsTold { by_name, by_ranks };

inline std::string megatron_name(Group group) {
  switch (group) {
    case Group::tp:
      return "TENSOR_MODEL_PARALLEL_GROUP";
    case Group::cp:
      return "CONTEXT_PARALLEL_GROUP";
    case Group::ep:
      return "EXPERT_MODEL_PARALLEL_GROUP";
    case Group::pp:
      return "PIPELINE_MODEL_PARALLEL_GROUP";
    case Group::dp:
      return "DATA_PARALLEL_GROUP_WITH_CP";
    case Group::expert_dp:
      return "EXPERT_DATA_PARALLEL_GROUP";
    case Group::dp_replica:
      return "INTER_PARTIAL_DATA_PARALLEL_GROUP_WITH_CP";
    case Group::dp_secondary:
      return "SECONDARY_DATA_PARALLEL_GROUP";
    case Group::dp_meeting:
      return "MEETING_OF_REPLICAS_GROUP";
    case Group::dp_node:
      return "NODE_DATA_PARALLEL_GROUP";
    case Group::dp_nodes:
      return "ACROSS_NODES_DATA_PARALLEL_GROUP";
    case Group::copies:
      return "COPIES_OF_MODEL_GROUP";
    case Group::embedding:
      return "EMBEDDING_GROUP";
    case Group::model:
      return "MODEL_PARALLEL_GROUP";
    case Group::world:
      return "default_pg";
  }
  return "";
}

/// The calls that the ranks make in `steps` steps, each as long as the model says. `c`: a Case of
/// forecast/random_run_for_test.hpp, here and below.
template <class Case>
Recording recording_of(const Case& c, const std::vector<std::int64_t>& ranks, int steps,
                       GroupsTold told) {
  const Step step = lower(c);
  const Prices prices{c.job, c.layout, c.cluster, c.calibration, step.spans};
  const std::vector<Lane> lanes = lanes_of(c.layout, step);
  const auto of_class = expected_kinds(step, prices, lanes);
  Recording out;
  out.format = "synthetic";
  for (const std::int64_t rank : ranks) {
    const auto index = rank_index(out, "rank " + std::to_string(rank), rank);
    out.ranks[index].world_size = c.layout.ranks();
    std::size_t stage_class = 0;
    while (stage_class + 1 < step.stages.size() &&
           step.stages[stage_class + 1].first <= stage_of(c.layout, rank)) {
      ++stage_class;
    }
    std::int64_t at = 1'000'000;
    std::int64_t sequence = 0;
    for (int s = 0; s < steps; ++s) {
      for (const ExpectedKind& kind : of_class[stage_class]) {
        const Group group = lanes[kind.lane].groups.front();
        const auto members = group_ranks(c.layout, group, rank, exchanging_on_node(step));
        const auto id =
            group_index(out, std::to_string(kind.lane) + " " + std::to_string(members.front()),
                        static_cast<std::int64_t>(members.size()));
        if (told == GroupsTold::by_ranks) out.groups[id].ranks = members;
        if (told == GroupsTold::by_name) out.groups[id].description = megatron_name(group);
        for (std::int64_t i = 0; i < std::llround(kind.count); ++i) {
          RecordedCall call;
          call.op = traced_as(kind.op);
          call.rank = index;
          call.group = id;
          call.bytes = kind.bytes;
          call.start_ns = at;
          call.duration = kind.each;
          call.time = TimeKind::kernel;
          call.sequence = sequence++;
          at += std::llround(kind.each.value() * 1e9) + 1000;
          out.calls.push_back(call);
        }
      }
    }
  }
  return out;
}

}  // namespace headway::testing
