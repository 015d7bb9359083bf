// The ranks of each group of a layout.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "layout/layout.hpp"
#include "step/program/groups.hpp"

namespace headway {

/// Global ranks, ascending, of the group that `rank` belongs to. `node`: replicas on one, where
/// they exchange within nodes.
std::vector<std::int64_t> group_ranks(const Layout& layout, Group group, std::int64_t rank,
                                      std::int64_t node = 1);

/// The place of a rank among those of a group that holds it, ascending.
inline std::int64_t place_in(const std::vector<std::int64_t>& ranks, std::int64_t rank) {
  return std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin();
}

/// The place of a rank along the pipeline.
std::int64_t stage_of(const Layout& layout, std::int64_t rank);
/// The rank that differs from `rank` in its place along the pipeline alone.
std::int64_t at_stage(const Layout& layout, std::int64_t rank, std::int64_t stage);

}  // namespace headway
