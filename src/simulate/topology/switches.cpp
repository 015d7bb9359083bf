// Topologies of ports and switches.
#include <algorithm>

#include "base/random/random.hpp"
#include "simulate/topology/topology.hpp"

namespace headway::network {
namespace {

struct Builder {
  std::vector<Link> links;

  LinkId add(NodeId from, NodeId to, BytesPerSecond capacity, Seconds latency) {
    links.push_back({from, to, capacity, latency});
    return static_cast<LinkId>(links.size() - 1);
  }
  // One way, then back.
  void join(NodeId a, NodeId b, BytesPerSecond capacity, Seconds latency) {
    add(a, b, capacity, latency);
    add(b, a, capacity, latency);
  }
};

std::uint64_t hash_of(NodeId from, NodeId to, std::uint64_t seed) {
  return split_mixed(split_mixed(seed) ^ ((std::uint64_t{from} << 32U) | to));
}

}  // namespace

Topology one_switch(std::uint32_t ranks, const Speeds& speeds) {
  Builder build;
  const Seconds half = speeds.latency_of(0) / 2;
  for (NodeId r = 0; r < ranks; ++r) build.add(r, ranks, speeds.bandwidth_of(0), half);
  for (NodeId r = 0; r < ranks; ++r) build.add(ranks, r, speeds.bandwidth_of(0), half);
  return {.name = "switch",
          .ranks = ranks,
          .links = std::move(build.links),
          .route =
              [ranks](NodeId from, NodeId to, std::vector<LinkId>& into) {
                into.push_back(from);
                into.push_back(ranks + to);
                return true;
              },
          .reduces = true};
}

Topology full_mesh(std::uint32_t ranks, const Speeds& speeds) {
  Builder build;
  for (NodeId from = 0; from < ranks; ++from) {
    for (NodeId to = 0; to < ranks; ++to) {
      if (from != to) build.add(from, to, speeds.bandwidth_of(0), speeds.latency_of(0));
    }
  }
  return {.name = "full",
          .ranks = ranks,
          .links = std::move(build.links),
          .route = [ranks](NodeId from, NodeId to, std::vector<LinkId>& into) {
            if (from != to) into.push_back(from * (ranks - 1) + to - (to > from ? 1 : 0));
            return true;
          }};
}

Topology leaf_spine(std::uint32_t leaves, std::uint32_t hosts, std::uint32_t uplinks,
                    std::uint64_t seed, const Speeds& speeds) {
  Builder build;
  const std::uint32_t ranks = leaves * hosts;
  const Seconds half = speeds.latency_of(0) / 2;
  const Seconds half_up = speeds.latency_of(1) / 2;
  for (NodeId r = 0; r < ranks; ++r) {
    build.join(r, ranks + r / hosts, speeds.bandwidth_of(0), half);
  }
  const LinkId first_up = 2 * ranks;
  for (NodeId leaf = 0; leaf < leaves; ++leaf) {
    for (NodeId spine = 0; spine < uplinks; ++spine) {
      build.join(ranks + leaf, ranks + leaves + spine, speeds.bandwidth_of(1), half_up);
    }
  }
  return {.name = "fat-tree",
          .ranks = ranks,
          .links = std::move(build.links),
          .route =
              [=](NodeId from, NodeId to, std::vector<LinkId>& into) {
                into.push_back(2 * from);
                if (from / hosts != to / hosts) {
                  const auto spine = static_cast<NodeId>(hash_of(from, to, seed) % uplinks);
                  into.push_back(first_up + 2 * (from / hosts * uplinks + spine));
                  into.push_back(first_up + 2 * (to / hosts * uplinks + spine) + 1);
                }
                into.push_back(2 * to + 1);
                return true;
              },
          .group = hosts};
}

Topology fat_tree(std::uint32_t ports, std::uint64_t seed, const Speeds& speeds) {
  Builder build;
  const std::uint32_t half = ports / 2, edges = ports * half, ranks = edges * half;
  // Switches: edge, then aggregation (pod by pod), then core.
  const NodeId edge = ranks, aggregation = edge + edges, core = aggregation + edges;
  const auto latency = [&](std::size_t level) { return speeds.latency_of(level) / 2; };
  for (NodeId r = 0; r < ranks; ++r) {
    build.join(r, edge + r / half, speeds.bandwidth_of(0), latency(0));
  }
  const LinkId to_aggregation = 2 * ranks;
  for (std::uint32_t e = 0; e < edges; ++e) {
    for (std::uint32_t a = 0; a < half; ++a) {
      const NodeId above = aggregation + e / half * half + a;
      build.join(edge + e, above, speeds.bandwidth_of(1), latency(1));
    }
  }
  const LinkId to_core = to_aggregation + 2 * edges * half;
  for (std::uint32_t a = 0; a < edges; ++a) {
    for (std::uint32_t c = 0; c < half; ++c) {
      const NodeId above = core + a % half * half + c;
      build.join(aggregation + a, above, speeds.bandwidth_of(2), latency(2));
    }
  }
  return {.name = "fat-tree",
          .ranks = ranks,
          .links = std::move(build.links),
          .route =
              [=](NodeId from, NodeId to, std::vector<LinkId>& into) {
                const std::uint32_t e = from / half, f = to / half;
                const std::uint64_t hash = hash_of(from, to, seed);
                const auto a = static_cast<std::uint32_t>(hash % half);
                const auto c = static_cast<std::uint32_t>(hash / half % half);
                const auto aggregation_of = [&](std::uint32_t at) { return at / half * half + a; };
                into.push_back(2 * from);
                if (e != f) into.push_back(to_aggregation + 2 * (e * half + a));
                if (e / half != f / half) {
                  into.push_back(to_core + 2 * (aggregation_of(e) * half + c));
                  into.push_back(to_core + 2 * (aggregation_of(f) * half + c) + 1);
                }
                if (e != f) into.push_back(to_aggregation + 2 * (f * half + a) + 1);
                into.push_back(2 * to + 1);
                return true;
              },
          .group = half};
}

Topology rails(std::uint32_t nodes, std::uint32_t width, const Speeds& speeds) {
  Builder build;
  const std::uint32_t ranks = nodes * width;
  for (NodeId r = 0; r < ranks; ++r) {
    const NodeId within = ranks + r / width, rail = ranks + nodes + r % width;
    build.join(r, within, speeds.bandwidth_of(0), speeds.latency_of(0) / 2);
    build.join(r, rail, speeds.bandwidth_of(1), speeds.latency_of(1) / 2);
  }
  return {.name = "rails",
          .ranks = ranks,
          .links = std::move(build.links),
          .route =
              [=](NodeId from, NodeId to, std::vector<LinkId>& into) {
                // The rank of the first node that stands on the rail of the last.
                const NodeId between = from / width * width + to % width;
                if (from != between) {
                  into.push_back(4 * from);
                  into.push_back(4 * between + 1);
                }
                if (between != to) {
                  into.push_back(4 * between + 2);
                  into.push_back(4 * to + 3);
                }
                return true;
              },
          .group = width};
}

Topology dragonfly(std::uint32_t hosts, std::uint32_t routers, std::uint32_t global,
                   const Speeds& speeds) {
  Builder build;
  const std::uint32_t groups = routers * global + 1, all = groups * routers, ranks = all * hosts;
  for (NodeId r = 0; r < ranks; ++r) {
    build.join(r, ranks + r / hosts, speeds.bandwidth_of(0), speeds.latency_of(0) / 2);
  }
  const LinkId local = 2 * ranks;
  for (std::uint32_t a = 0; a < all; ++a) {
    for (std::uint32_t other = 0; other + 1 < routers; ++other) {
      const std::uint32_t b = other + (other >= a % routers ? 1 : 0);
      build.add(ranks + a, ranks + a / routers * routers + b, speeds.bandwidth_of(1),
                speeds.latency_of(1));
    }
  }
  const LinkId between = local + all * (routers - 1);
  // Of group g, the router that leads to group h: its links go round the other groups.
  const auto gate = [=](std::uint32_t g, std::uint32_t h) {
    return (h + groups - g - 1) % groups / global;
  };
  for (std::uint32_t g = 0; g < groups; ++g) {
    for (std::uint32_t step = 0; step + 1 < groups; ++step) {
      const std::uint32_t h = (g + 1 + step) % groups;
      build.add(ranks + g * routers + gate(g, h), ranks + h * routers + gate(h, g),
                speeds.bandwidth_of(2), speeds.latency_of(2));
    }
  }
  const auto within = [=](std::uint32_t group, std::uint32_t from, std::uint32_t to,
                          std::vector<LinkId>& into) {
    if (from == to) return;
    into.push_back(local + (group * routers + from) * (routers - 1) + to - (to > from ? 1 : 0));
  };
  return {.name = "dragonfly",
          .ranks = ranks,
          .links = std::move(build.links),
          .route =
              [=](NodeId from, NodeId to, std::vector<LinkId>& into) {
                const std::uint32_t a = from / hosts, b = to / hosts;
                const std::uint32_t g = a / routers, h = b / routers;
                into.push_back(2 * from);
                if (g == h) {
                  within(g, a % routers, b % routers, into);
                } else {
                  within(g, a % routers, gate(g, h), into);
                  into.push_back(between + g * (groups - 1) + (h + groups - g - 1) % groups);
                  within(h, gate(h, g), b % routers, into);
                }
                into.push_back(2 * to + 1);
                return true;
              },
          .group = hosts * routers};
}

Topology sites(std::uint32_t count, std::uint32_t width, const Speeds& speeds) {
  Builder build;
  const std::uint32_t ranks = count * width;
  for (NodeId r = 0; r < ranks; ++r) {
    build.join(r, ranks + r / width, speeds.bandwidth_of(0), speeds.latency_of(0) / 2);
  }
  for (std::uint32_t s = 0; s < count; ++s) {
    for (std::uint32_t t = 0; t < count; ++t) {
      if (s != t) build.add(ranks + s, ranks + t, speeds.bandwidth_of(1), speeds.latency_of(1));
    }
  }
  return {.name = "sites",
          .ranks = ranks,
          .links = std::move(build.links),
          .route =
              [=](NodeId from, NodeId to, std::vector<LinkId>& into) {
                const std::uint32_t s = from / width, t = to / width;
                into.push_back(2 * from);
                if (s != t) into.push_back(2 * ranks + s * (count - 1) + t - (t > s ? 1 : 0));
                into.push_back(2 * to + 1);
                return true;
              },
          .group = width};
}

}  // namespace headway::network
