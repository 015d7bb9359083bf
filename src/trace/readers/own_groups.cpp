#include "trace/readers/own_groups.hpp"

#include <algorithm>
#include <cmath>

namespace headway {

std::optional<std::uint32_t> own_group(Recording& recording, const std::vector<std::uint32_t>& own,
                                       Operation op, double input, double output) {
  constexpr double kMostRanks = 1 << 20;
  if (own.size() == 1) return own.front();
  if (op != Operation::all_gather && op != Operation::reduce_scatter) return std::nullopt;
  const double whole = std::max(input, output), part = std::min(input, output);
  const double ratio = part > 0 ? whole / part : 0;
  if (ratio < 1 || ratio > kMostRanks || ratio != std::floor(ratio)) return std::nullopt;
  const auto size = static_cast<std::int64_t>(ratio);
  const auto is_of_size = [&](std::uint32_t group) { return recording.groups[group].size == size; };
  const auto one = std::find_if(own.begin(), own.end(), is_of_size);
  if (std::count_if(own.begin(), own.end(), is_of_size) == 1) return *one;
  return unnamed_group_index(recording, size);
}

std::optional<std::int64_t> global_rank(const Recording& recording, const RecordedCall& call,
                                        std::optional<std::int64_t> within) {
  if (!within || *within < 0) return std::nullopt;
  if (!call.group) return within;
  const auto& ranks = recording.groups[*call.group].ranks;
  const auto at = static_cast<std::size_t>(*within);
  return at < ranks.size() ? ranks[at] : *within;
}

}  // namespace headway
