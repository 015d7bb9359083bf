#include "cluster/cluster.hpp"

#include <algorithm>

namespace headway {

double let_through(const Level& level) {
  // A processor passes what devices send each other in small packets. 5/6: NCCL 2.30 counts six
  // fifths of the bytes on such a way (src/graph/topo.h: INTEL_P2P_OVERHEAD); two nodes of 4 GH200
  // reach 79.7 GB/s by way of the processor and 96.1 straight, 0.83 (github NVIDIA/nccl issue
  // 1579).
  constexpr double kThroughProcessor = 5.0 / 6;
  return level.nics_on_processor ? kThroughProcessor : 1;
}

std::array<std::int64_t, kMostLevels> domains_in_use(const Cluster& cluster, std::int64_t total) {
  std::array<std::int64_t, kMostLevels> out{};
  const std::size_t count = std::min<std::size_t>(cluster.levels.size(), kMostLevels);
  const auto size = [&](std::size_t i) {
    return std::max<std::int64_t>(cluster.levels[i].size, 1);
  };
  bool smaller = false;  // fewer are used of a domain further in than it has
  for (std::size_t i = 0; i < count; ++i) {
    const Level& level = cluster.levels[i];
    const std::int64_t inside = i > 0 ? out[i - 1] : 1;
    out[i] = size(i);
    // As many domains of the level below as the machine has, of which fewer accelerators are used.
    if (smaller) out[i] = std::max<std::int64_t>(out[i] / size(i - 1), 1) * inside;
    if (total <= out[i]) continue;
    const bool takes_part = level.usable > 0 && level.usable < level.size && !smaller;
    if (takes_part && total % level.usable == 0) {
      out[i] = level.usable;
      smaller = true;
      continue;
    }
    const std::int64_t domains = (total - 1) / out[i] + 1;
    const std::int64_t slice = total / domains;
    const bool equal = slice * domains == total && slice % inside == 0;
    if (equal && slice < out[i] && i + 1 < count) {
      out[i] = slice;
      smaller = true;
    }
  }
  // A run that needs every accelerator of the machine takes every one.
  if (smaller && total > out[count - 1]) {
    for (std::size_t i = 0; i < count; ++i) out[i] = size(i);
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
