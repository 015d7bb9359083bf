// Cluster descriptions: a .toml from anywhere becomes a cluster with growing levels or problems.
#include <cstdint>
#include <cstdlib>

#include "cluster/load.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto cluster = headway::parse_cluster(text, "cluster.toml");
  if (!cluster) {
    if (cluster.problems().empty()) std::abort();
    return 0;
  }
  std::int64_t below = 0;
  for (const headway::Level& level : cluster->levels) {
    if (level.size <= below || !(level.bandwidth.value() > 0)) std::abort();
    below = level.size;
  }
  return 0;
}
