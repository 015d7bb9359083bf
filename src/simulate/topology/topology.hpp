// Ranks and the links between them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simulate/network/network.hpp"

namespace headway::network {

/// Ranks are the nodes 0 ... ranks - 1; switches follow.
struct Topology {
  std::string name = {};
  std::uint32_t ranks = 0;
  std::vector<Link> links = {};
  /// Appends the links from one rank to another, each at most once; false: there is no way.
  std::function<bool(NodeId from, NodeId to, std::vector<LinkId>& into)> route = {};

  // What algorithms make use of.
  std::vector<std::uint32_t> sizes =
      {};                           // of a grid: rank = x + sizes[0]·(y + sizes[1]·z); else empty
  bool wraps = false;               // each line of the grid is a ring
  bool lines_are_switched = false;  // each line of the grid is a switch
  std::uint32_t group = 0;          // ranks next to each other of one inner domain; 0: none
  /// Ranks in an order in which each is a neighbour of the next, and the last of the first; empty:
  /// the order of the ranks.
  std::vector<NodeId> ring = {};
  /// Its switches add up what ranks send and send it back to all.
  bool reduces = false;
};

/// Of each level or dimension, the inner first; the last stands for those that follow.
struct Speeds {
  std::vector<BytesPerSecond> bandwidth;
  std::vector<Seconds> latency;

  BytesPerSecond bandwidth_of(std::size_t level) const {
    return bandwidth[std::min(level, bandwidth.size() - 1)];
  }
  Seconds latency_of(std::size_t level) const {
    return latency[std::min(level, latency.size() - 1)];
  }
};

/// [SIM-12] All ranks on one switch without contention within: a port of the bandwidth each way,
/// half the latency on either side of the switch.
Topology one_switch(std::uint32_t ranks, const Speeds& speeds);
/// A link each way between each two ranks.
Topology full_mesh(std::uint32_t ranks, const Speeds& speeds);
/// Torus or mesh; a side of two has one link each way. A rank has a port each way in each
/// dimension; routes go dimension after dimension, the shorter way round, half of those between two
/// equal ways each.
Topology grid(std::vector<std::uint32_t> sizes, bool wraps, const Speeds& speeds);
/// A grid each of whose lines is a switch.
Topology switched_grid(std::vector<std::uint32_t> sizes, const Speeds& speeds);
/// A slice of cubes of 4 x 4 x 4 behind optical switches: a torus where each side is a multiple of
/// 4, else a mesh.
Topology cube_slice(std::vector<std::uint32_t> sizes, const Speeds& speeds);

/// Leaves of `hosts` each, with as many uplinks as hosts / oversubscription, each to a spine of its
/// own. A flow between leaves takes an uplink by a hash of its ends and the seed (ECMP).
Topology leaf_spine(std::uint32_t leaves, std::uint32_t hosts, std::uint32_t uplinks,
                    std::uint64_t seed, const Speeds& speeds);
/// Three levels of switches with k ports: k³/4 hosts; both ways up by the hash.
Topology fat_tree(std::uint32_t ports, std::uint64_t seed, const Speeds& speeds);
/// Nodes of `width` ranks on a switch (level 0); rail i joins rank i of every node (level 1). From
/// one rail to another over the switch of the first node.
Topology rails(std::uint32_t nodes, std::uint32_t width, const Speeds& speeds);
/// Groups of `routers` with `hosts` each (level 0), all routers of a group joined (level 1), and
/// `global` links each to other groups, one between each two of routers·global + 1 groups (level
/// 2). Minimal routes.
Topology dragonfly(std::uint32_t hosts, std::uint32_t routers, std::uint32_t global,
                   const Speeds& speeds);
/// Sites of `width` ranks on a switch (level 0), joined two by two by one line each way (level 1).
Topology sites(std::uint32_t count, std::uint32_t width, const Speeds& speeds);

}  // namespace headway::network
