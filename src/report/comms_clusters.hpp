// comms --clusters: the calls of one run on several clusters.
#pragma once

#include <string>
#include <vector>

#include "study/traffic/clusters.hpp"

namespace headway {

/// For a terminal of 80 columns.
std::string clusters_text(const std::vector<CallsOnCluster>& runs);

/// {clusters: [...], left_out: [...]}; the fields are listed in docs/communication.md.
std::string clusters_json(const std::vector<CallsOnCluster>& runs);

}  // namespace headway
