// Tori and meshes.
#include <algorithm>
#include <array>

#include "simulate/topology/topology.hpp"

namespace headway::network {
namespace {

constexpr LinkId kNoLink = ~LinkId{0};

std::uint32_t ranks_of(const std::vector<std::uint32_t>& sizes) {
  std::uint32_t out = 1;
  for (const std::uint32_t each : sizes) out *= each;
  return out;
}

// A way through a plane of a·b, row after row there and back, first column left for the way home
// where the number of rows is even; so that the ends are neighbours.
std::vector<NodeId> ring_of_plane(std::uint32_t width, std::uint32_t height) {
  std::vector<NodeId> out;
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t i = 1; i < width; ++i) {
      const std::uint32_t x = y % 2 == 0 ? i : width - i;
      out.push_back(x + width * y);
    }
  }
  for (std::uint32_t y = height; y-- > 0;) out.push_back(width * y);
  return out;
}

// Each rank a neighbour of the next, the last of the first, where the grid allows that as a plane
// of its first side and all others one behind the other; else row after row there and back.
std::vector<NodeId> ring_of(const std::vector<std::uint32_t>& sizes) {
  const std::uint32_t ranks = ranks_of(sizes);
  if (sizes.size() == 2 && sizes[0] > 1 && sizes[1] > 1) {
    if (sizes[1] % 2 == 0) return ring_of_plane(sizes[0], sizes[1]);
    if (sizes[0] % 2 == 0) {
      std::vector<NodeId> out = ring_of_plane(sizes[1], sizes[0]);
      for (NodeId& each : out) each = each / sizes[1] + each % sizes[1] * sizes[0];
      return out;
    }
  }
  // There and back in every dimension (a Gray code); where the last side is even or a ring, the
  // ends are near each other.
  std::vector<NodeId> out;
  for (std::uint32_t i = 0; i < ranks; ++i) {
    std::uint32_t rest = i, rank = 0, stride = ranks;
    bool back = false;
    for (std::size_t d = sizes.size(); d-- > 0;) {
      stride /= sizes[d];
      const std::uint32_t digit = rest / stride;
      rest %= stride;
      rank += (back ? sizes[d] - 1 - digit : digit) * stride;
      back = back != (digit % 2 == 1);
    }
    out.push_back(rank);
  }
  return out;
}

}  // namespace

Topology grid(std::vector<std::uint32_t> sizes, bool wraps, const Speeds& speeds) {
  const std::uint32_t ranks = ranks_of(sizes);
  const std::size_t dimensions = sizes.size();
  std::vector<Link> links;
  std::vector<std::array<LinkId, 2>> ports(ranks * dimensions, {kNoLink, kNoLink});
  for (NodeId r = 0; r < ranks; ++r) {
    std::uint32_t stride = 1;
    for (std::size_t d = 0; d < dimensions; ++d) {
      const std::uint32_t size = sizes[d], at = r / stride % size;
      for (const std::size_t up : {std::size_t{1}, std::size_t{0}}) {
        const bool edge = up == 1 ? at + 1 == size : at == 0;
        if (size == 1 || (edge && (!wraps || size == 2))) continue;
        const std::uint32_t to_at = (at + (up == 1 ? 1 : size - 1)) % size;
        ports[r * dimensions + d][up] = static_cast<LinkId>(links.size());
        links.push_back(
            {r, r + to_at * stride - at * stride, speeds.bandwidth_of(d), speeds.latency_of(d)});
      }
      stride *= size;
    }
  }
  Topology out{.name = wraps ? "torus" : "mesh",
               .ranks = ranks,
               .links = std::move(links),
               .sizes = sizes,
               .wraps = wraps,
               .ring = ring_of(sizes)};
  out.route = [sizes = std::move(sizes), ports = std::move(ports), wraps, dimensions](
                  NodeId from, NodeId to, std::vector<LinkId>& into) {
    std::uint32_t stride = 1;
    NodeId at = from;
    for (std::size_t d = 0; d < dimensions; ++d) {
      const std::uint32_t size = sizes[d], here = at / stride % size, there = to / stride % size;
      const std::uint32_t up = (there + size - here) % size, down = size - up;
      // Of two equal ways each half of the ranks takes one.
      bool rises = there > here;
      if (wraps && size > 2) rises = up < down || (up == down && from % 2 == 0);
      for (std::uint32_t step = rises ? up : down % size; step > 0 && here != there; --step) {
        const std::uint32_t x = at / stride % size;
        into.push_back(ports[at * dimensions + d][rises ? 1 : 0]);
        at = at - x * stride + (x + (rises ? 1 : size - 1)) % size * stride;
      }
      stride *= size;
    }
    return true;
  };
  return out;
}

Topology switched_grid(std::vector<std::uint32_t> sizes, const Speeds& speeds) {
  const std::uint32_t ranks = ranks_of(sizes);
  const auto dimensions = static_cast<std::uint32_t>(sizes.size());
  std::vector<Link> links;
  NodeId next_switch = ranks;
  for (NodeId r = 0; r < ranks; ++r) {
    std::uint32_t stride = 1;
    for (std::uint32_t d = 0; d < dimensions; ++d) {
      // The switch of the line: by its rank at 0 of this dimension.
      const NodeId line = next_switch + d * ranks + r - r / stride % sizes[d] * stride;
      links.push_back({r, line, speeds.bandwidth_of(d), speeds.latency_of(d) / 2});
      links.push_back({line, r, speeds.bandwidth_of(d), speeds.latency_of(d) / 2});
      stride *= sizes[d];
    }
  }
  Topology out{.name = "switches",
               .ranks = ranks,
               .links = std::move(links),
               .sizes = sizes,
               .wraps = true,
               .lines_are_switched = true,
               .ring = ring_of(sizes)};
  out.route = [sizes = std::move(sizes), dimensions](NodeId from, NodeId to,
                                                     std::vector<LinkId>& into) {
    std::uint32_t stride = 1;
    NodeId at = from;
    for (std::uint32_t d = 0; d < dimensions; ++d) {
      const std::uint32_t here = at / stride % sizes[d], there = to / stride % sizes[d];
      const NodeId next = at + there * stride - here * stride;
      if (next != at) {
        into.push_back(2 * (at * dimensions + d));
        into.push_back(2 * (next * dimensions + d) + 1);
      }
      at = next;
      stride *= sizes[d];
    }
    return true;
  };
  return out;
}

Topology cube_slice(std::vector<std::uint32_t> sizes, const Speeds& speeds) {
  const bool cubes =
      std::all_of(sizes.begin(), sizes.end(), [](std::uint32_t side) { return side % 4 == 0; });
  Topology out = grid(std::move(sizes), cubes, speeds);
  out.name = "cubes";
  return out;
}

}  // namespace headway::network
