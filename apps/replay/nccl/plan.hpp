// Which communicators and streams the calls of a list have by NCCL.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "simulate/live/list.hpp"

namespace headway::replay::nccl {

struct Lane {
  std::vector<std::int64_t> members;  // ranks of its communicator, ascending
  std::int64_t bytes = 0;             // of the largest call, filled up to parts of all
};

/// [LIVE-6] A communicator for each stream of each group, and for the messages of a group from one
/// rank to another one of these two: NCCL runs what is on a communicator in the order in which it
/// was begun, so that two messages that meet head on would wait for each other. What stood beside
/// streams has a stream for each such pair.
struct NcclPlan {
  LiveList list;  // with these streams
  std::vector<Lane> lanes;
  std::vector<std::vector<std::uint32_t>> lane_of;  // by rank, of its calls
};

/// Or why NCCL cannot run it: it knows no tags, and takes what comes in the order of the sends.
Result<NcclPlan> plan_of(LiveList list);

/// Elements of a call as NCCL moves them: the whole of it, and one rank's part, rounded up.
struct NcclSize {
  std::int64_t whole = 0, part = 0;
};
NcclSize size_of(const LiveItem& call, std::size_t ranks);

}  // namespace headway::replay::nccl
