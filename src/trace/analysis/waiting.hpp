// Waiting against transfer, by group and operation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/analysis/align.hpp"

namespace headway {

/// [TRACE-5] The matched collectives of one group and operation, summed.
struct WaitingRow {
  std::optional<std::uint32_t> group;
  Operation op = Operation::other;
  std::int64_t collectives = 0;
  std::int64_t incomplete = 0;  // of them, those of which not all ranks are recorded
  std::int64_t kernels = 0;     // one a rank and collective
  Seconds transfer;             // of each collective once, in all
  Seconds waiting;              // of each kernel, in all
  Seconds kernel_time;          // of each kernel, in all
  Seconds longest;              // wait of one rank for one collective
  std::uint32_t last_rank = 0;  // came last most often
  std::int64_t times_last = 0;  // of `collectives`
  /// [TRACE-6] Bytes on the wire over transfer, of the collectives whose size is known: what the
  /// link does once all ranks are there.
  std::optional<BytesPerSecond> bus_bandwidth;

  /// Of the kernels' time.
  double waiting_share() const { return kernel_time.value() > 0 ? waiting / kernel_time : 0; }
};

/// In the order of the recording's groups (none last) and of the operations. With `as`, group i is
/// counted as group as[i].
std::vector<WaitingRow> waiting_table(const Recording& recording, const Alignment& alignment,
                                      const std::vector<std::uint32_t>& as = {});

}  // namespace headway
