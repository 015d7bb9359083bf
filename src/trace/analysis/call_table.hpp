// The calls of a recording, summed by group and operation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/recording/recording.hpp"

namespace headway {

/// Calls of one group, operation (as asked and as done) and kind of time, over all recorded ranks.
struct CallTableRow {
  std::optional<std::uint32_t> group;
  Operation op = Operation::other;
  std::optional<Operation> done_as;  // what the backend did, where that is another
  TimeKind time_kind = TimeKind::none;
  std::optional<std::int64_t> ranks;  // of the group
  std::int64_t callers = 0;           // recorded ranks that have such calls
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

/// Ordered by group (in the order of the recording, none last), operation and kind of time. With
/// `as`, group i is counted as group as[i].
std::vector<CallTableRow> call_table(const Recording& recording,
                                     const std::vector<std::uint32_t>& as = {});

/// For each group the first of the same name and size: the tensor-parallel groups of a run are
/// alike, and one row tells of all.
std::vector<std::uint32_t> alike_groups(const Recording& recording);

/// What each rank puts on the wire in one call, bytes x bus_factor [TRACE-1]; nothing where bytes
/// or ranks are not known.
std::optional<Bytes> wire_bytes(const Recording& recording, const RecordedCall& call);

/// busbw of one call [TRACE-1]; nothing where bytes, ranks or a time that can mean a transfer are
/// not known.
std::optional<BytesPerSecond> bus_bandwidth(const Recording& recording, const RecordedCall& call);

/// The name of a call's group as shown: description or id; "-" where it is not known. Addresses of
/// communicators say nothing to people and are left out.
std::string group_name(const Recording& recording, std::optional<std::uint32_t> group);

}  // namespace headway
