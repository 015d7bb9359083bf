// The way that leads to the end of a recorded run, over its ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

enum class PathKind : std::uint8_t {
  compute,   // a kernel that does not communicate
  transfer,  // a call with all of its ranks there
  between,   // neither: the host, copies, launches
};
constexpr std::string_view kPathKindNames[] = {"compute", "transfer", "between"};
constexpr std::string_view to_name(PathKind kind) {
  return kPathKindNames[static_cast<std::size_t>(kind)];
}

/// What of one kind on one rank lies on the way; transfers by group and operation.
struct PathPart {
  PathKind kind = PathKind::compute;
  std::uint32_t rank = 0;  // index into Recording::ranks; of a transfer, that left it last
  std::optional<std::uint32_t> group = std::nullopt;
  Operation op = Operation::other;
  std::int64_t count = 0;
  Seconds time{};
};

struct RecordedPath {
  Seconds time;                 // of the run; the parts sum to it
  std::vector<PathPart> parts;  // the longest first
  std::int64_t changes = 0;     // how often it passes from one rank to another
  // What lies on it: indices into Recording::calls and Recording::compute.
  std::vector<std::size_t> calls, kernels;
};

/// [SIM-65] Problems: what keeps the recording from being run again.
Result<RecordedPath> path_of(const Recording& recording);

}  // namespace headway
