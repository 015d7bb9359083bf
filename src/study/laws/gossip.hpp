// Ranks that average with a few neighbours instead of all: how fast what one knows reaches the
// others.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace headway {

enum class GossipGraph : std::uint8_t { ring, torus, exponential, complete };
constexpr std::array<std::string_view, 4> kGossipGraphs = {"ring", "torus", "exponential",
                                                           "complete"};

/// Neighbours that a rank sends to in a step.
std::int64_t gossip_neighbours(GossipGraph graph, std::int64_t ranks);

/// The largest modulus of the mixing matrix's eigenvalues but for the 1 that all share: 0 agree at
/// once, 1 never [LAW-7]. A torus is the squarest one of its ranks.
double mixing_eigenvalue(GossipGraph graph, std::int64_t ranks);

/// The same of ranks on a ring that each take from so many neighbours, the nearest on one side and
/// the other in turn; of one neighbour what is on one side alone.
double mixing_eigenvalue(std::int64_t neighbours, std::int64_t ranks);

/// Steps in which what ranks disagree on shrinks to `share` of what it was [LAW-8].
double steps_to_agree(double eigenvalue, double share);

/// Steps after which gossip converges as fast as synchronous training, to the order of magnitude
/// [LAW-9].
double transient_steps(double eigenvalue, std::int64_t ranks);

}  // namespace headway
