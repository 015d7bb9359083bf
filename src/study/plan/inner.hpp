// Lists of inner choices taken apart: what of a layout hangs on which of them, and who looks for
// them. Internal to the planner.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "study/plan/space/fields.hpp"
#include "study/plan/space/space.hpp"

namespace headway {

/// Who looks for layouts: several at once, a bit for each.
using Seekers = std::uint32_t;
constexpr std::size_t kMostSeekers = 8 * sizeof(Seekers);

/// As many as there are limits.
inline Seekers all_of(std::span<const PlanLimit> limits) {
  return static_cast<Seekers>((std::uint64_t{1} << limits.size()) - 1);
}

/// Whether a limit is one on inner choices; without a field it is none.
bool is_inner(const PlanLimit& limit);

/// [PLAN-3] For how many micro-batches the time of all stages is waited, at least, whatever is
/// hidden.
double waits_of(const PipelineSplit& pipeline);
/// [PLAN-3] What stages add up to at least, of the time of all blocks for one micro-batch, however
/// these are spread over them.
double rounds(std::int64_t micro_batches, std::int64_t stages, double waits);

/// A layout as far as states and their update read it.
Layout shard_of(Layout layout);

/// Inner choices that share blocks, a schedule and its virtual stages.
struct InnerPart {
  std::uint32_t pipe;
  std::size_t number;                // among the parts of all groups
  std::vector<std::size_t> choices;  // places in their list
};

/// Inner choices that share blocks, next to each other in their list.
struct InnerGroup {
  std::size_t begin, end;
  bool saves_anew;  // not the same activations as the group before
  std::vector<InnerPart> parts;
};

/// A list of inner choices taken apart.
struct InnerShape {
  std::vector<PipelineSplit> pipes;  // schedules with virtual stages
  std::vector<Layout> shards;        // all else that blocks hold alike: how states are sharded
  std::vector<std::uint32_t> pipe, shard;  // of each inner choice, its place there
  std::vector<InnerGroup> groups;
  std::size_t parts = 0;                                        // of all groups
  std::array<bool, kRecomputeNames.size()> overlaps_experts{};  // some choice that recomputes so

  InnerShape(const std::vector<InnerChoice>& list, const Job& job);

  /// [PLAN-3] What no choice that computes as much again, or none of all, has blocks faster than.
  InnerChoice cheapest(Recompute recompute) const;
};

/// By whom the inner choices of a tuple of degrees are wanted, as far as limits on them say.
struct InnerWanted {
  std::vector<Seekers> choices;        // each of the list
  std::vector<Seekers> groups, parts;  // some choice of a group, of a part

  /// `layout`: of the tuple. Of each limit, one seeker.
  InnerWanted(const std::vector<InnerChoice>& list, const InnerShape& shape, Layout layout,
              std::span<const PlanLimit> limits);
};

}  // namespace headway
