// Rings, and what is done along the sides of a grid.
#include <memory>

#include "simulate/collectives/pattern.hpp"

namespace headway::network {
namespace {

// How often a step of the same kind is taken, twice for all-reduce: the second time in the reverse
// order of the kinds.
std::vector<std::uint32_t> steps_of(const std::vector<std::uint32_t>& counts, Collective op) {
  std::vector<std::uint32_t> out;
  const auto kinds = static_cast<std::uint32_t>(counts.size());
  if (op != Collective::all_gather) {
    for (std::uint32_t k = 0; k < kinds; ++k) out.insert(out.end(), counts[k], k);
  }
  if (op != Collective::reduce_scatter) {
    for (std::uint32_t k = kinds; k-- > 0;) out.insert(out.end(), counts[k], k);
  }
  return out;
}

struct Grid {
  std::vector<std::uint32_t> sizes;
  std::uint32_t ranks = 1;

  explicit Grid(std::vector<std::uint32_t> given) : sizes(std::move(given)) {
    for (const std::uint32_t each : sizes) ranks *= each;
  }
  std::uint32_t neighbour(std::uint32_t rank, std::size_t dimension, bool up) const {
    std::uint32_t stride = 1;
    for (std::size_t d = 0; d < dimension; ++d) stride *= sizes[d];
    const std::uint32_t size = sizes[dimension], at = rank / stride % size;
    return rank + (at + (up ? 1 : size - 1)) % size * stride - at * stride;
  }
};

// A lane does dimensions in its own order, each as a ring in its own direction.
struct Lane {
  double bytes;
  std::vector<std::size_t> dimensions;
  std::vector<bool> up;
};

// Phases follow each other in all lanes: those of one place in the order have the same length.
Planned along_lanes(Collective op, const Grid& grid, const std::vector<Lane>& lanes) {
  const std::size_t phases = grid.sizes.size();
  std::vector<std::uint32_t> counts(phases, 0);
  for (std::size_t p = 0; p < phases; ++p) {
    for (const Lane& lane : lanes) {
      counts[p] = std::max(counts[p], grid.sizes[lane.dimensions[p]] - 1);
    }
  }
  for (const Lane& lane : lanes) {
    for (std::size_t p = 0; p < phases; ++p) {
      if (grid.sizes[lane.dimensions[p]] != counts[p] + 1) {
        return {{}, "needs sides of one length"};
      }
    }
  }
  Planned out;
  out.pattern.actors = grid.ranks * static_cast<std::uint32_t>(lanes.size());
  out.pattern.kinds = steps_of(counts, op);
  out.pattern.sends = [grid, lanes](std::uint32_t actor, std::uint32_t kind,
                                    std::vector<Message>& into) {
    const std::uint32_t rank = actor % grid.ranks;
    const Lane& lane = lanes[actor / grid.ranks];
    double bytes = lane.bytes;
    for (std::size_t p = 0; p <= kind; ++p) bytes /= grid.sizes[lane.dimensions[p]];
    const std::size_t dimension = lane.dimensions[kind];
    if (grid.sizes[dimension] == 1) return;
    into.push_back({actor - rank + grid.neighbour(rank, dimension, lane.up[kind]), bytes});
  };
  return out;
}

bool is_torus(const Topology& on) {
  return !on.sizes.empty() && on.wraps;
}

}  // namespace

Planned ring(const Call& call, const Topology& on) {
  if (call.op == Collective::all_to_all) return {{}, "does no all-to-all"};
  const std::uint32_t n = on.ranks;
  auto next = std::make_shared<std::vector<std::uint32_t>>(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const bool given = !on.ring.empty();
    (*next)[given ? on.ring[i] : i] = given ? on.ring[(i + 1) % n] : (i + 1) % n;
  }
  const double part = call.bytes.value() / n;
  Planned out;
  out.pattern.actors = n;
  out.pattern.kinds = steps_of({n - 1}, call.op);
  out.pattern.sends = [next, part](std::uint32_t actor, std::uint32_t, std::vector<Message>& into) {
    into.push_back({(*next)[actor], part});
  };
  return out;
}

// Each dimension one after the other, half of the data each way round.
Planned dimension_by_dimension(const Call& call, const Topology& on) {
  if (call.op == Collective::all_to_all) return {{}, "does no all-to-all"};
  if (!is_torus(on)) return {{}, "needs a grid whose lines are rings"};
  const Grid grid(on.sizes);
  std::vector<Lane> lanes;
  for (const bool up : {true, false}) {
    Lane lane{call.bytes.value() / 2, {}, std::vector<bool>(grid.sizes.size(), up)};
    for (std::size_t d = 0; d < grid.sizes.size(); ++d) lane.dimensions.push_back(d);
    lanes.push_back(std::move(lane));
  }
  return along_lanes(call.op, grid, lanes);
}

// Every port is busy: lane i goes out of port i + p in its phase p, where the ports are those up in
// each dimension, then those down.
Planned rotations(const Call& call, const Topology& on) {
  if (call.op == Collective::all_to_all) return {{}, "do no all-to-all"};
  if (!is_torus(on)) return {{}, "need a grid whose lines are rings"};
  const Grid grid(on.sizes);
  const std::size_t dimensions = grid.sizes.size(), ports = 2 * dimensions;
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < ports; ++i) {
    Lane lane{call.bytes.value() / static_cast<double>(ports), {}, {}};
    for (std::size_t p = 0; p < dimensions; ++p) {
      const std::size_t port = (i + p) % ports;
      lane.dimensions.push_back(port % dimensions);
      lane.up.push_back(port < dimensions);
    }
    lanes.push_back(std::move(lane));
  }
  return along_lanes(call.op, grid, lanes);
}

std::uint32_t domain_of(const Topology& on) {
  const std::uint32_t inner = on.sizes.size() > 1 ? on.sizes[0] : on.group;
  return inner <= 1 || inner >= on.ranks || on.ranks % inner != 0 ? 0 : inner;
}

// Reduce-scatter in each domain, rings of the ranks of one place in all domains, all-gather.
Planned hierarchical(const Call& call, const Topology& on) {
  if (call.op == Collective::all_to_all) return {{}, "does no all-to-all"};
  const std::uint32_t inner = domain_of(on);
  if (inner == 0) return {{}, std::string(kNeedsDomains)};
  const Grid grid({inner, on.ranks / inner});
  return along_lanes(call.op, grid, {{call.bytes.value(), {0, 1}, {true, true}}});
}

// Half of the data each way round where the line is a ring of links; a switch has one way.
Pattern along_one(double bytes, const std::vector<std::uint32_t>& sizes, std::size_t dimension,
                  const Topology& on) {
  const Grid grid(sizes);
  const bool both = is_torus(on) && !on.lines_are_switched && sizes[dimension] > 2;
  const double each = bytes / sizes[dimension] / (both ? 2 : 1);
  Pattern out;
  out.actors = grid.ranks * (both ? 2U : 1U);
  out.kinds.assign(sizes[dimension] - 1, 0);
  out.sends = [=](std::uint32_t actor, std::uint32_t, std::vector<Message>& into) {
    const std::uint32_t rank = actor % grid.ranks;
    into.push_back({actor - rank + grid.neighbour(rank, dimension, actor < grid.ranks), each});
  };
  return out;
}

// A lane for each rank of a domain: in every other domain it goes up from its own rank to the one
// below that, in the others down again, so that it leaves a domain where it enters the next.
Planned rings(const Call& call, const Topology& on) {
  if (call.op == Collective::all_to_all) return {{}, "do no all-to-all"};
  const std::uint32_t inner = domain_of(on), n = on.ranks;
  if (inner == 0) return {{}, "need domains of ranks within others"};
  auto next = std::make_shared<std::vector<std::uint32_t>>(std::size_t{n} * inner);
  for (std::uint32_t lane = 0; lane < inner; ++lane) {
    std::vector<std::uint32_t> way;
    for (std::uint32_t d = 0; d < n / inner; ++d) {
      for (std::uint32_t i = 0; i < inner; ++i) {
        const std::uint32_t place = d % 2 == 0 ? lane + i : lane + inner - 1 - i;
        way.push_back(d * inner + place % inner);
      }
    }
    for (std::uint32_t i = 0; i < n; ++i) (*next)[lane * n + way[i]] = lane * n + way[(i + 1) % n];
  }
  const double part = call.bytes.value() / n / inner;
  Planned out;
  out.pattern.actors = n * inner;
  out.pattern.kinds = steps_of({n - 1}, call.op);
  out.pattern.sends = [next, part](std::uint32_t actor, std::uint32_t, std::vector<Message>& into) {
    into.push_back({(*next)[actor], part});
  };
  return out;
}

}  // namespace headway::network
