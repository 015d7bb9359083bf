// Two binary trees, each rank within one of them a leaf.
#include <algorithm>
#include <bit>

#include "simulate/collectives/pattern.hpp"

namespace headway::network {
namespace {

// The parent of a rank in the tree of all ranks in order: each has the ranks between its own lowest
// bit below; the root, 0, has one child. The root is its own parent.
std::uint32_t parent_of(std::uint32_t rank, std::uint32_t n) {
  if (rank == 0) return 0;
  const std::uint32_t lowest = rank & (~rank + 1);
  const std::uint32_t up = (rank ^ lowest) | (lowest << 1U);
  return up < n ? up : rank ^ lowest;
}

}  // namespace

Planned tree_wave(double chunk, const Topology& on, std::uint32_t& depth) {
  const std::uint32_t n = on.ranks;
  depth = 0;
  for (std::uint32_t r = 0; r < n; ++r) {
    std::uint32_t hops = 0;
    for (std::uint32_t at = r; at != 0; at = parent_of(at, n)) ++hops;
    depth = std::max(depth, 2 * hops);
  }
  // Both trees carry half of the chunk along each edge, up and down. The second has the ranks in
  // the reverse order, or one further where that would leave leaves leaves.
  std::vector<std::vector<Message>> sends(n);
  for (const bool second : {false, true}) {
    const auto seat = [&](std::uint32_t rank) {
      return !second ? rank : n % 2 == 0 ? n - 1 - rank : (rank + 1) % n;
    };
    for (std::uint32_t r = 1; r < n; ++r) {
      const std::uint32_t child = seat(r), parent = seat(parent_of(r, n));
      sends[child].push_back({parent, chunk / 2});
      sends[parent].push_back({child, chunk / 2});
    }
  }
  Planned out;
  out.pattern.actors = n;
  out.pattern.kinds = {0};
  out.pattern.sends = [sends = std::move(sends)](std::uint32_t actor, std::uint32_t,
                                                 std::vector<Message>& into) {
    into.insert(into.end(), sends[actor].begin(), sends[actor].end());
  };
  return out;
}

}  // namespace headway::network
