// How the bytes that a rank sends spread over the levels of a cluster.
#pragma once

#include <array>

#include "layout/layout.hpp"
#include "step/program/call.hpp"

namespace headway {

/// Shares of a whole.
using LevelShares = std::array<double, kMostLevels>;

/// [COMM-2] Of the bytes that a rank sends in calls of this kind, those that cross each level. Sums
/// to 1. `span` is that of the whole group.
LevelShares level_shares(const Call& call, const GroupSpan& span, const Cluster& cluster);

/// The same of sends to neighbouring stages, as the mean of stages first ... first + stages - 1.
LevelShares pipeline_shares(std::int64_t first, std::int64_t stages, const Layout& layout,
                            const GroupSpan& span, const Cluster& cluster);

}  // namespace headway
