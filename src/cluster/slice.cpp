#include "cluster/slice.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "base/whole_number.hpp"

namespace headway {
namespace {

std::string names_of(const Cluster& cluster) {
  std::vector<std::string> names;
  for (const Level& level : cluster.levels) {
    names.push_back(level.name + "=1.." + std::to_string(level.size));
  }
  return join(names, ", ");
}

}  // namespace

std::optional<std::string> set_slices(std::string_view text, Cluster& cluster) {
  Cluster sliced = cluster;
  do {
    const std::string_view each = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), each.size() + 1));
    const std::size_t equal = std::min(each.find('='), each.size());
    const auto level =
        std::find_if(sliced.levels.begin(), sliced.levels.end(),
                     [&](const Level& one) { return one.name == each.substr(0, equal); });
    const auto count =
        equal < each.size() ? whole_number(each.substr(equal + 1)) : std::optional<std::int64_t>();
    if (level == sliced.levels.end() || !count || *count < 1 || *count > level->size) {
      return "'" + printable(std::string(each)) + "' is no LEVEL=N of " + cluster.name +
             "; legal: " + names_of(cluster);
    }
    level->slice = *count;
  } while (!text.empty());
  std::int64_t inside = 1;
  for (const Level& level : sliced.levels) {
    if (level.slice == 0) continue;
    if (level.slice % inside != 0) {
      return level.name + "=" + std::to_string(level.slice) + " does not hold whole slices of " +
             std::to_string(inside) + " of the level inside";
    }
    inside = level.slice;
  }
  cluster = std::move(sliced);
  return std::nullopt;
}

std::optional<std::string> unfilled_slice(const Cluster& cluster, std::int64_t total) {
  std::int64_t domains = 1;  // of the level below, in one of this level
  for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
    const Level& level = cluster.levels[i];
    const std::int64_t below = i > 0 ? cluster.levels[i - 1].size : 1;
    const std::int64_t held = domains * (level.size / std::max<std::int64_t>(1, below));
    domains = level.slice > 0 ? level.slice : std::max<std::int64_t>(1, held);
    if (level.slice > 0 && total % level.slice != 0) {
      return std::to_string(level.slice) + " accelerators of each " + level.name +
             " do not divide the " + std::to_string(total) + " of the run; legal: a divisor";
    }
  }
  if (total > domains) {
    return "leaves " + std::to_string(domains) + " accelerators of " + cluster.name +
           "; the run has " + std::to_string(total);
  }
  return std::nullopt;
}

}  // namespace headway
