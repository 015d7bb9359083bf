// The calls of a recording, summed by group and operation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/recording.hpp"

namespace headway {

/// Calls of one group, operation and kind of time, over all recorded ranks.
struct CallTableRow {
  std::optional<std::uint32_t> group;
  Operation op = Operation::other;
  TimeKind time_kind = TimeKind::none;
  std::optional<std::int64_t> ranks;  // of the group
  double count = 0;
  double sized = 0;  // calls whose bytes are known; the four below are theirs
  Bytes bytes;       // sum
  Bytes smallest, largest;
  std::optional<Bytes> wire_bytes;  // sum that each rank puts on the wire, bytes x bus_factor
  double timed = 0;                 // calls with a duration; the two below are theirs
  Seconds time;                     // sum
  Seconds shortest;
  /// Wire bytes over time of the calls that have both [TRACE-1]. Of kernel times this holds the
  /// waiting too, and says how well the link was used, not what it can do. None for enqueue times.
  std::optional<BytesPerSecond> bus_bandwidth;
};

/// Ordered by group (in the order of the recording, none last), operation and kind of time.
std::vector<CallTableRow> call_table(const Recording& recording);

/// busbw of one call [TRACE-1]; nothing where bytes, ranks or a time that can mean a transfer are
/// not known.
std::optional<BytesPerSecond> bus_bandwidth(const Recording& recording, const RecordedCall& call);

/// The name of a call's group as shown: description or id; "-" where it is not known.
std::string group_name(const Recording& recording, std::optional<std::uint32_t> group);

/// The table as cells, with a header.
std::vector<std::vector<std::string>> to_cells(const std::vector<CallTableRow>& rows,
                                               const Recording& recording);

}  // namespace headway
