// An all-gather made for the links that there are.
#pragma once

#include <cstdint>

#include "simulate/topology/topology.hpp"

namespace headway::network {

struct Synthesised {
  double time = 0;          // seconds
  std::uint64_t steps = 0;  // chunks that the busiest link carries
  double most_sent = 0;     // bytes, of the rank that sends most
  std::uint64_t messages = 0;
};

/// [SIM-17] Each rank's block goes in `chunks`. Whenever a link is free it takes a chunk that its
/// rank has and the next one neither has nor is about to get: the one that the fewest ranks have.
/// A link holds a chunk for its latency and bytes / capacity. Links to ranks with the least
/// bandwidth in choose first; ties by `seed`. After the greedy matching of TACOS (Won et al. 2024).
/// Every link joins two ranks.
Synthesised synthesise_all_gather(double bytes, std::uint32_t chunks, const Topology& on,
                                  std::uint64_t seed);

}  // namespace headway::network
