// How much of a rank's communication its computation hides, from the streams of its GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/recording/recording.hpp"

namespace headway {

/// Communication of one operation of one group that nothing hides.
struct ExposedCalls {
  std::optional<std::uint32_t> group;
  Operation op = Operation::other;
  Seconds time;     // of the kernels
  Seconds exposed;  // of it, while no computation ran
};

/// [TRACE-4] What a rank's GPU did between its first and its last kernel. Times are of the union of
/// all streams, so that compute + exposed + idle = span and hidden + exposed = communication.
struct Overlap {
  std::uint32_t rank = 0;  // index into Recording::ranks
  Seconds span, compute, communication, hidden, exposed, idle;
  /// By group and operation. Where two calls run at once, both count as exposed.
  std::vector<ExposedCalls> by_call;
};

/// One entry for each rank of which kernels of communication with their start are recorded, or
/// computation and no call: of calls without such times nobody knows what hides them.
std::vector<Overlap> overlap_of(const Recording& recording);

}  // namespace headway
