// The links that the ranks of a group have to each other, as a topology.
#pragma once

#include "base/result.hpp"
#include "cost/collective/collective.hpp"
#include "simulate/topology/topology.hpp"

namespace headway::network {

/// A group on the levels of a cluster.
struct GroupNetwork {
  Topology on;
  Seconds base;  // of any call: launch, first flag
};

/// Which of the fitted efficiencies messages have [COLL-2, 3, 4, 5].
enum class TrafficKind : std::uint8_t { rings, trees, in_network, exchange };

/// [SIM-51] A level that is crossed becomes a dimension: a switch for each line of it, of two or
/// more levels a grid of switches; links between each two ranks; a torus or mesh. A rank's port has
/// what it sends across the level where all like groups send at once [COLL-1], times the fitted
/// efficiency; a message takes the latencies of a hop of a ring and the gap between two messages.
/// Or why there is none: a torus with other levels, or ranks that lie unevenly.
Result<GroupNetwork> network_of(const GroupSpan& span, const Cluster& cluster,
                                const LevelParameters& parameters, TrafficKind traffic);

}  // namespace headway::network
