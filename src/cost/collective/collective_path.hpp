// How a group of ranks uses each level of a cluster: hops, rates, shares. For the cost of
// collectives, and for who places them message by message.
#pragma once

#include <array>

#include "cost/collective/collective.hpp"

namespace headway::detail {

/// One level that the group crosses. Plain doubles in SI units: this is the inner loop of a search.
struct CrossedLevel {
  const NetworkParameters* parameters;
  double domains_below;  // domains of the level below that the whole group touches
  double children;       // of them inside one domain of this level, at least 2
  double members_below;  // ranks of the group in one domain of the level below
  double rate;           // B/s that one rank of the group sends across this level
  double own_rate;       // B/s of one accelerator at this level, as the data sheet says
  double latency;        // s, one message
  double hops;           // that one message makes at this level going once round the ring
  double detour;         // links that a message between two random ranks passes (torus)
  bool in_network_reduction;
  bool has_tree;  // false where messages pass through accelerators (ring, torus)
};

struct GroupPath {
  double ranks = 1;
  int levels = 0;
  std::array<CrossedLevel, kMostLevels> level;  // the first `levels` are set
};

/// The levels that the group crosses, inner first; none for a group of one rank.
GroupPath path_of(const GroupSpan& span, const Cluster& cluster, const LevelParameters& parameters);

}  // namespace headway::detail
