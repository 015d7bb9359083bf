// What a recorder was told, by environment variables that `headway record` sets.
#pragma once

#include <cstdint>

namespace headway::recorder {

struct Settings {
  char folder[3072] = {};          // HEADWAY_RECORD; empty: nothing is recorded
  std::uint64_t min_bytes = 0;     // HEADWAY_RECORD_MIN_BYTES: smaller calls are left out
  std::uint64_t rotate_bytes = 0;  // HEADWAY_RECORD_ROTATE: of one file; 0: any number
  bool by_step = false;            // HEADWAY_RECORD_STEPS=10..20, both included
  std::int64_t first_step = 0, last_step = 0;
  /// HEADWAY_RECORD_OPS=all_reduce,wait: a bit for each operation of recordings, kWaitBit for
  /// waits, kFileBit for files.
  std::uint64_t operations = ~std::uint64_t{0};
  /// HEADWAY_RECORD_CLOCK=measure: offsets also between ranks of one machine, which share a clock.
  bool always_measure_clock = false;
};

inline constexpr std::uint64_t kWaitBit = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kFileBit = std::uint64_t{1} << 62;

/// The names of operations in HEADWAY_RECORD_OPS, in the order of record_file::Op.
inline constexpr const char* kOperationNames[] = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_receive", "send",
    "receive",    "reduce",     "gather",         "scatter",    "barrier",   "other"};

/// Of the environment. What cannot be read is as if it was not there: `headway record` has judged
/// it.
void read_settings(Settings& settings);

}  // namespace headway::recorder
