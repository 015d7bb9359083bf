// Cluster descriptions: a .toml from anywhere becomes a cluster with growing levels or problems.
#include <cstdint>
#include <cstdlib>

#include "cluster/load.hpp"
#include "targets.hpp"

void headway::fuzz::cluster(std::string_view text) {
  const auto cluster = headway::parse_cluster(text, "cluster.toml");
  if (!cluster) {
    if (cluster.problems().empty()) std::abort();
    return;
  }
  std::int64_t below = 0;
  for (const headway::Level& level : cluster->levels) {
    if (level.size <= below || !(level.bandwidth.value() > 0)) std::abort();
    below = level.size;
  }
}
