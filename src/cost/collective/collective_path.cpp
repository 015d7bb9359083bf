#include "cost/collective/collective_path.hpp"

#include <algorithm>

namespace headway::detail {

namespace {

/// What a group of `children` neighbours takes of a torus: rings along as many dimensions as it
/// fills, each with its share of an accelerator's links.
struct TorusShare {
  double links = 1;   // fraction of the accelerator's links
  double hops = 0;    // once along each dimension used
  double detour = 1;  // mean distance of the longest dimension, d/4 with wrap-around, over links
};

TorusShare torus_share(double children, const std::vector<std::int64_t>& dimensions) {
  TorusShare share;
  double left = children, used = 0, longest = 1;
  for (const std::int64_t dimension : dimensions) {
    if (left <= 1) break;
    const double length = std::min(left, std::max(1.0, static_cast<double>(dimension)));
    if (length > 1) {
      share.hops += length - 1;
      longest = std::max(longest, length);
      used += 1;
    }
    left /= length;
  }
  if (left > 1 || used == 0) {  // no dimensions stated: one ring
    share.hops += left - 1;
    longest = std::max(longest, left);
    used += 1;
  }
  share.links = std::min(1.0, used / std::max(1.0, static_cast<double>(dimensions.size())));
  share.detour = std::max(1.0, longest / 4 * used);
  return share;
}

double ceil_quotient(std::int64_t a, std::int64_t b) {
  return static_cast<double>((a + b - 1) / b);
}

}  // namespace

GroupPath path_of(const GroupSpan& span, const Cluster& cluster,
                  const LevelParameters& parameters) {
  GroupPath path;  // its levels are set one by one, not cleared
  path.ranks = static_cast<double>(std::max<std::int64_t>(span.ranks, 1));
  const std::size_t levels = std::min<std::size_t>(cluster.levels.size(), kMostLevels);
  std::int64_t members_below = 1, size_below = 1, sharing_below = 1;
  double domains_below = path.ranks;
  for (std::size_t i = 0; i < levels; ++i) {
    const Level& level = cluster.levels[i];
    const std::int64_t members = std::clamp(i + 1 == levels ? span.ranks : span.members[i],
                                            members_below, std::max<std::int64_t>(span.ranks, 1));
    if (members > members_below) {
      const double domains = members == span.ranks ? 1 : ceil_quotient(span.ranks, members);
      CrossedLevel& crossed = path.level[static_cast<std::size_t>(path.levels++)];
      crossed.parameters = &parameters[i];
      crossed.domains_below = domains_below;
      crossed.children = std::max(2.0, domains_below / domains);
      crossed.members_below = static_cast<double>(members_below);
      crossed.latency = level.latency.value();
      crossed.in_network_reduction = level.in_network_reduction;
      crossed.own_rate = level.bandwidth.value();
      crossed.detour = 1;
      crossed.has_tree = true;

      // [COLL-1] The links that leave a domain belong to all ranks active in it, in equal shares;
      // one rank gets at most what its port carries.
      const double share = static_cast<double>(size_below) /
                           static_cast<double>(std::max(sharing_below, members_below));
      const double oversubscription = std::max(1.0, level.oversubscription);
      crossed.rate = level.bandwidth.value() / oversubscription * std::max(1.0, share);
      if (level.port_bandwidth.value() > 0) {
        crossed.rate = std::min(crossed.rate, level.port_bandwidth.value());
      }
      crossed.rate *= let_through(level);
      crossed.hops = domains_below - domains;
      if (level.topology == Topology::mesh) {
        // Each pair has its own link: a part of the domain uses a part of the links.
        const double neighbours =
            static_cast<double>(level.size / std::max<std::int64_t>(size_below, 1)) - 1;
        if (neighbours > 1) {
          crossed.rate *= std::min(1.0, (crossed.children - 1) / neighbours);
        }
      } else if (level.topology != Topology::switched) {
        const TorusShare torus = torus_share(crossed.children, level.dimensions);
        crossed.rate *= torus.links;
        crossed.hops = torus.hops;
        crossed.detour = torus.detour;
        crossed.has_tree = false;
      }
      domains_below = domains;
    }
    members_below = members;
    size_below = std::max<std::int64_t>(level.size, 1);
    sharing_below = std::max<std::int64_t>(span.sharing[i], 1);
  }
  return path;
}

}  // namespace headway::detail
