// Where a group of ranks lies on the levels of a cluster.
#pragma once

#include <array>
#include <cstdint>

#include "cluster/cluster.hpp"

namespace headway {

/// A group of ranks as the levels see it. Groups are regular: each domain of a level that the group
/// touches holds the same number of its members.
struct GroupSpan {
  std::int64_t ranks = 1;
  /// Members inside one domain of level i; members[last] == ranks. 1 where the group has at most
  /// one member in a domain of that level.
  std::array<std::int64_t, kMostLevels> members{};
  /// Members of all like groups (this one and its siblings, which communicate at the same time) in
  /// one domain of level i: they share the links that leave it.
  std::array<std::int64_t, kMostLevels> sharing{};
  friend bool operator==(const GroupSpan&, const GroupSpan&) = default;
};

/// The span of a group of `ranks` ranks that are `stride` global ranks apart, ranks numbered so
/// that neighbours fill the inner levels first. The siblings are the groups that start at the other
/// offsets. `total` is the number of ranks of the run.
GroupSpan span_of(std::int64_t ranks, std::int64_t stride, std::int64_t total,
                  const Cluster& cluster);

/// Whether all members reach each other's memory: split products with tensor-parallel calls under
/// them (Transformer Engine's user buffers, PyTorch's symmetric memory) need that.
bool shares_memory(const GroupSpan& span, const Cluster& cluster);

/// The outermost level the group crosses (the index of the first level with members == ranks).
int crossed_level(const GroupSpan& span, const Cluster& cluster);

}  // namespace headway
