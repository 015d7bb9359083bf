// A cluster of these sizes of levels, for tests.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/cluster.hpp"

namespace headway {

inline Cluster cluster_of(const std::vector<std::int64_t>& sizes) {
  Cluster cluster;
  for (const std::int64_t size : sizes) {
    Level level;
    level.size = size;
    cluster.levels.push_back(level);
  }
  cluster.accelerators = sizes.back();
  return cluster;
}

}  // namespace headway
