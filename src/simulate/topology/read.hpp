// A topology as text: "switch", "torus:8x8", "fat-tree:16x8:2".
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "simulate/topology/topology.hpp"

namespace headway::network {

/// The most ranks and links that are made.
constexpr std::uint32_t kMostTopologyRanks = 131'072;
constexpr std::uint64_t kMostTopologyLinks = 4'000'000;

struct TopologyForm {
  std::string_view text, what;
};
/// What may be written.
std::span<const TopologyForm> topology_forms();

/// `ranks`: as asked for beside it; 0: what it has. `seed`: of hashed routes.
Result<Topology> read_topology(std::string_view text, std::uint32_t ranks, std::uint64_t seed,
                               const Speeds& speeds);

}  // namespace headway::network
