// Which groups of two recordings are the same. Internal to src/study.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "study/measured/change.hpp"

namespace headway {

constexpr std::size_t kUnpaired = static_cast<std::size_t>(-1);

struct PairedGroups {
  std::vector<GroupPair> pairs;  // alike groups are one
  /// Of each group its pair, or kUnpaired; last, of calls without a group.
  std::vector<std::size_t> of_before, of_after;
  std::string why_none;  // where there is no pair
};

/// [TRACE-10] Groups are the same by their ranks; where either does not list them, by name and
/// size; those with calls of the given ranks count.
PairedGroups pair_groups(const Recording& before, const std::vector<bool>& ranks_before,
                         const Recording& after, const std::vector<bool>& ranks_after);

}  // namespace headway
