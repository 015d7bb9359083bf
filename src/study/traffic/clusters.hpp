// The calls of one run on several clusters: what the interconnect does to them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/traffic/expected.hpp"

namespace headway {

/// The run on one of them, or why it is none there.
struct CallsOnCluster {
  std::string cluster;
  Result<ExpectedCalls> calls;
};

/// The run of these fields on each cluster in turn; what follows from the cluster is settled anew.
/// A name that is no cluster is a problem of all.
Result<std::vector<CallsOnCluster>> calls_on_clusters(const RunRequest& fields,
                                                      const std::vector<std::string>& clusters,
                                                      std::optional<Bytes> small_below = {});

}  // namespace headway
