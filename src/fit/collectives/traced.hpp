// A cluster with the network that a trace of training shows.
#pragma once

#include <vector>

#include "cluster/cluster.hpp"
#include "trace/analysis/align.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

/// [REC-11] Sets the constants of each level as fit_logged() fits them to the recording's calls,
/// where enough sizes cross the level; which levels these are. In a step calls are slower than
/// alone [FORECAST-11], and forecasts count that: what is set is what they would take alone.
/// `alignment`: align() of the recording.
std::vector<bool> fit_network_to(Cluster& cluster, const Recording& recording,
                                 const Alignment& alignment);

}  // namespace headway
