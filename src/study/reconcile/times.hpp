// Seconds of measured calls, parted into transfer and waiting. Internal to src/study.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "study/reconcile/match.hpp"
#include "trace/analysis/align.hpp"

namespace headway {

/// One measured call; no kind: it has no time that means a transfer.
struct SplitTime {
  TransferKind kind = TransferKind::none;
  Seconds transfer, waiting;
};

/// [REC-5] For each call of the recording.
std::vector<SplitTime> split_times(const Recording& recording, const Alignment& alignment,
                                   const std::vector<MeasuredKind>& kinds);

/// Share of the kernels of a group and operation that no computation hides; empty where no
/// computation is recorded.
using ExposedShares = std::map<std::pair<std::optional<std::uint32_t>, Operation>, double>;
ExposedShares exposed_shares(const Recording& recording);

/// Who makes the others wait, most first. `per`: recorded ranks times steps.
std::vector<LateRank> late_ranks(const Recording& recording, const Alignment& alignment,
                                 double per);

}  // namespace headway
