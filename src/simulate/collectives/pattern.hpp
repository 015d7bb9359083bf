// A collective as steps of messages.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/topology/topology.hpp"

namespace headway::network {

enum class Collective : std::uint8_t { all_reduce, all_gather, reduce_scatter, all_to_all };

/// What is asked of an algorithm: all-reduce, all-gather and reduce-scatter of a tensor of `bytes`
/// in all; all-to-all in which each rank has `bytes` for all ranks.
struct Call {
  Collective op = Collective::all_reduce;
  Bytes bytes;
};

struct Message {
  std::uint32_t to;  // an actor; itself: up to the switch and back
  double bytes;
};

/// [SIM-13] Actors take steps, each in order: an actor begins a step when all that it sends and
/// receives in the steps before has ended. An actor is a rank, or a share of the data on a rank:
/// actor a lies on rank a mod ranks. Steps of one kind have the same messages.
struct Pattern {
  std::uint32_t actors = 0;
  std::vector<std::uint32_t> kinds;  // of each step
  /// Appends what an actor sends in a step of this kind.
  std::function<void(std::uint32_t actor, std::uint32_t kind, std::vector<Message>& into)> sends;

  std::size_t steps() const { return kinds.size(); }
};

/// A pattern, or why the algorithm cannot do that.
struct Planned {
  Pattern pattern;
  std::string problem;  // empty: none
};

Planned ring(const Call& call, const Topology& on);
Planned rings(const Call& call, const Topology& on);
Planned recursive_doubling(const Call& call, const Topology& on);
Planned recursive_halving(const Call& call, const Topology& on);
Planned rabenseifner(const Call& call, const Topology& on);
Planned bruck(const Call& call, const Topology& on);
Planned pat(const Call& call, const Topology& on);
Planned direct(const Call& call, const Topology& on);
Planned one_shot(const Call& call, const Topology& on);
Planned two_shot(const Call& call, const Topology& on);
Planned pairwise(const Call& call, const Topology& on);
Planned switch_reduction(const Call& call, const Topology& on);
Planned hierarchical(const Call& call, const Topology& on);
Planned two_level(const Call& call, const Topology& on);
Planned dimension_by_dimension(const Call& call, const Topology& on);
Planned rotations(const Call& call, const Topology& on);

/// The ranks of a domain within others, next to each other; 0: there are none.
std::uint32_t domain_of(const Topology& on);
constexpr std::string_view kNeedsDomains = "needs domains of ranks within others";

/// A ring of each line along one dimension of a grid of these sizes, its ranks those of the
/// topology: a reduce-scatter or all-gather of `bytes` in each.
Pattern along_one(double bytes, const std::vector<std::uint32_t>& sizes, std::size_t dimension,
                  const Topology& on);

/// The wave of two binary trees: every rank passes a chunk up and down both; `depth`: waves that
/// the first chunk takes. Of all-reduce.
Planned tree_wave(double chunk, const Topology& on, std::uint32_t& depth);

}  // namespace headway::network
