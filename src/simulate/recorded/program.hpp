// What a recording says was run, as items that wait for each other: so that it can be run again
// with calls that take another time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

/// Nanoseconds, whole: what is run again as it was takes what was measured, not a rounding more.
using Nanoseconds = std::int64_t;

struct RecordedNeed {
  std::uint32_t item = 0;
  Nanoseconds lag = 0;  // from its end on
};

/// A kernel or a rank's part of a call.
struct RecordedItem {
  static constexpr std::uint32_t kAlone = ~std::uint32_t{0};
  std::uint32_t rank = 0;          // index into Recording::ranks
  std::uint32_t meeting = kAlone;  // the call that it is a part of; alone: none
  std::uint32_t kernel = kAlone;   // index into Recording::compute; alone: it is none of them
  Nanoseconds release = 0;         // it begins no sooner
  Nanoseconds duration = 0;        // of what is no call
  Nanoseconds leaves = 0;          // of a call: how much after the transfer the rank went on
  std::vector<RecordedNeed> needs = {};
};

/// One call of all the recorded ranks that take part in it.
struct CallMeeting {
  std::vector<std::uint32_t> items;     // one a rank
  std::vector<std::size_t> calls;       // of each, index into Recording::calls
  std::optional<Nanoseconds> transfer;  // as measured: of the rank that came last; of a graph not
                                        // known where it has no times
  bool complete = false;                // all ranks that take part are recorded
};

struct RecordedProgram {
  std::vector<RecordedItem> items;
  std::vector<CallMeeting> meetings;
  std::optional<Nanoseconds> measured;  // from the first start to the last end
  std::int64_t alone = 0;               // calls whose partners are not recorded, or cannot be told
  bool of_graph = false;                // the source says what waits for what
};

/// [SIM-42] Where the source has no graph: an item begins as long as it did after what ended last
/// before it on its rank, and not before the one before it on its stream has ended. Calls are those
/// that align() matches, sends and receives by their ends and order. Where it has one, that holds.
/// Problems: all that keeps the recording from being run again.
Result<RecordedProgram> program_of(const Recording& recording);

/// What each meeting took; nothing where one has no time.
std::optional<std::vector<Nanoseconds>> measured_transfers(const RecordedProgram& program);

}  // namespace headway
