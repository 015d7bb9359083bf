// The sizes that NCCL gives to NVTX, in an Nsight Systems database. Internal to src/trace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct sqlite3;

namespace headway {

/// What an NVTX range of NCCL says of the call it stands for.
struct NcclRange {
  std::int64_t start = 0, end = 0;  // ns of the session
  std::optional<std::uint64_t> communicator;
  std::optional<double> message_bytes;  // as NCCL's interface counts
};

/// The ranges with payloads, by thread and start, and the sizes of the communicators they name.
struct NcclPayloads {
  std::map<std::int64_t, std::vector<NcclRange>> by_thread;
  std::map<std::uint64_t, std::int64_t> communicator_size;

  /// The innermost range on a thread that holds a moment; null where there is none.
  const NcclRange* around(std::int64_t thread, std::int64_t at) const;
};

/// Reads the ranges of NCCL that carry a payload; none where the database lacks the tables (written
/// by nsys export --include-blobs=true).
NcclPayloads read_nccl_payloads(sqlite3* database);

/// A launch on the host: its thread and when, by the process (0 where the export does not say) and
/// the number that the kernel has too.
using LaunchKey = std::pair<std::int64_t, std::int64_t>;
struct NsightLaunch {
  std::int64_t thread = 0, start = 0;
};
std::map<LaunchKey, NsightLaunch> read_launches(sqlite3* database,
                                                const std::vector<LaunchKey>& wanted);

}  // namespace headway
