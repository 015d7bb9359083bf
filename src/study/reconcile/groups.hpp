// Which group of the layout a recorded group is. Internal to src/study.
#pragma once

#include <string_view>
#include <vector>

#include "study/reconcile/expected.hpp"

namespace headway {

/// What the name of a group says, in the words of Megatron-LM, DeepSpeed and PyTorch's meshes:
/// "TENSOR_MODEL_PARALLEL_GROUP", "mesh_tp", "dp_replicate", "zero_param_intra". Nothing for
/// "default_pg" and names that say nothing.
std::optional<Group> group_from_name(std::string_view name);

/// The lane of each call of the recording; kNoLane where it is none.
constexpr std::size_t kNoLane = static_cast<std::size_t>(-1);
struct LaneMapping {
  std::vector<std::size_t> lane_of_call;
  std::vector<GroupMapping> groups;
};

/// [REC-2] By the group's name, else by its ranks, its size, or operations and sizes of its calls.
/// `node`: exchanging_on_node of the step.
LaneMapping map_groups(const Recording& recording, const Layout& layout, std::int64_t node,
                       const std::vector<Lane>& lanes, const std::vector<ExpectedKind>& expected);

/// Whether a measured size is an expected one [REC-3].
bool same_size(Bytes measured, Bytes expected);

}  // namespace headway
