// Several ranks of one run: which of their calls are the same collective, how far their clocks are
// apart, and which part of each kernel's time was waiting.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/recording/recording.hpp"

namespace headway {

/// Whether no rank can leave the operation before all have come.
bool synchronises(Operation op);

/// One collective as several ranks saw it.
struct MatchedCall {
  std::vector<std::size_t> calls;  // indices into Recording::calls, one a rank, by rank
  bool by_order = false;           // the source does not number its calls
  /// Every rank of the group is here; else the transfer is an upper bound.
  bool complete = false;
  /// [TRACE-2] The shortest of the kernels: the rank that came last waited for nobody.
  Seconds transfer;
  std::vector<Seconds> waiting;  // of each call: its duration less the transfer
  std::uint32_t last_rank = 0;   // index of the rank with the shortest kernel
};

struct RankWaiting {
  Seconds transfer, waiting;
  std::int64_t matched = 0;     // calls that were matched
  std::int64_t times_last = 0;  // of them, how often the others waited for this rank
};

struct Alignment {
  std::vector<MatchedCall> matched;
  std::int64_t unmatched = 0;  // collective calls whose partners could not be told
  /// [TRACE-3] What to add to a rank's times to have them on the clock of the first rank that is
  /// matched with others; nothing for ranks that share no collective with it.
  std::vector<std::optional<std::int64_t>> clock_offset_ns;
  /// How far the ends of matched collectives lie apart after the shift, the median.
  std::optional<Seconds> clock_error;
  std::vector<RankWaiting> ranks;  // as Recording::ranks
};

/// Calls are the same collective where group, operation and number agree: the source's own number
/// if each call has one, else the order on each rank where all ranks of the group have as many;
/// those matched by order must also agree in size and, on one clock, have run at the same time. A
/// call of no known group is taken for one of all ranks; of a group that the source does not name,
/// only where it has all ranks. Only kernel times are split, and those on the
/// host that hold no more (RecordedCall::own_time).
Alignment align(const Recording& recording);

/// [TRACE-7] Calls of no known group that all ranks of the run were found to make together are
/// given a group of all ranks, so that their wire bytes are known. Returns how many.
std::int64_t name_whole_group(Recording& recording, const Alignment& alignment);

}  // namespace headway
