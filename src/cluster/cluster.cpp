#include "cluster/cluster.hpp"

#include <algorithm>

namespace headway {

std::array<std::int64_t, kMostLevels> domains_in_use(const Cluster& cluster, std::int64_t total) {
  std::array<std::int64_t, kMostLevels> out{};
  const std::size_t count = std::min<std::size_t>(cluster.levels.size(), kMostLevels);
  bool shrunk = false;
  for (std::size_t i = 0; i < count; ++i) {
    const Level& level = cluster.levels[i];
    out[i] = std::max<std::int64_t>(level.size, 1);
    // As many domains of the level below as the machine has, of which fewer accelerators are used.
    if (shrunk) {
      const std::int64_t below = std::max<std::int64_t>(cluster.levels[i - 1].size, 1);
      out[i] = std::max<std::int64_t>(out[i] / below, 1) * out[i - 1];
    }
    const bool takes_part = level.usable > 0 && level.usable < level.size && !shrunk;
    if (takes_part && total > level.size && total % level.usable == 0) {
      out[i] = level.usable;
      shrunk = true;
    }
  }
  // A run that needs every accelerator of the machine takes every one.
  if (shrunk && total > out[count - 1]) {
    for (std::size_t i = 0; i < count; ++i)
      out[i] = std::max<std::int64_t>(cluster.levels[i].size, 1);
  }
  return out;
}

int memory_levels(const Cluster& cluster) {
  const auto& levels = cluster.levels;
  const auto cards =
      std::find_if(levels.begin(), levels.end(), [](const Level& level) { return level.nics > 0; });
  const auto inner = static_cast<int>(cards - levels.begin());
  return std::clamp(static_cast<int>(levels.size()) - 1, 0, inner);
}

}  // namespace headway
