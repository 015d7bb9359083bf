// How unequally exchanges load the ranks of a group, from the sizes of their all-to-alls.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/analysis/align.hpp"

namespace headway {

/// [TRACE-15] The matched all-to-alls of one group. Load of a rank in one of them: the bytes that
/// it gets, or sends, whichever differ more between the ranks: experts get tokens and send as many
/// back.
struct ExchangeRow {
  std::optional<std::uint32_t> group;
  std::int64_t exchanges = 0;  // with sizes of all recorded ranks
  double imbalance = 1;        // most over mean of the ranks, the mean of the exchanges by bytes
  double worst = 1;            // of one exchange
  std::uint32_t fullest = 0;   // the rank that has most in most of them
  std::int64_t times_fullest = 0;
};

/// In the order of the recording's groups, none last. With `as`, group i is counted as as[i].
std::vector<ExchangeRow> exchange_table(const Recording& recording, const Alignment& alignment,
                                        const std::vector<std::uint32_t>& as = {});

}  // namespace headway
