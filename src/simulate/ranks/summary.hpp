// What the drawn steps of a run say together.
#pragma once

#include <optional>
#include <vector>

#include "simulate/ranks/ranks.hpp"
#include "simulate/replay/replay.hpp"

namespace headway {

struct RanksSummary {
  RankedStep first;                // of the first seed, with its ranks
  std::vector<double> step_times;  // s, by seed
  Seconds mean, p10, p50, p90, p99;
  Parts parts{};  // the mean of those of each step's cell that waits least: they sum to `mean`
  std::optional<Replay> what_if;
};

/// `steps`: one at least. [SIM-37] Where they have pipelines these are run again [SIM-3], transfers
/// of the usual time between stages.
RanksSummary summary_of(const RanksWork& work, std::vector<RankedStep> steps);

}  // namespace headway
