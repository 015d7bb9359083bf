#include "simulate/calls/topology_of.hpp"

#include <algorithm>

#include "cost/collective/collective_path.hpp"

namespace headway::network {
namespace {

using detail::CrossedLevel;

// A level that the group crosses, and how many children of it the group has in one domain.
struct Crossing {
  const Level* level;
  const CrossedLevel* priced;
  std::uint32_t size;
};

Problem unlike(std::string message) {
  return {FieldName("algorithm"), std::move(message), Trouble::unsupported};
}

double efficiency_of(const NetworkParameters& p, TrafficKind traffic) {
  switch (traffic) {
    case TrafficKind::trees:
      return p.tree_efficiency;
    case TrafficKind::in_network:
      return p.in_network_efficiency;
    case TrafficKind::exchange:
      return std::min(1.0, p.bandwidth_efficiency * p.exchange_ratio);
    case TrafficKind::rings:
      break;
  }
  return p.bandwidth_efficiency;
}

// The sides that so many neighbours fill of a torus, and whether all are whole.
std::vector<std::uint32_t> sides_of(std::uint32_t count, const std::vector<std::int64_t>& given,
                                    bool& whole) {
  std::vector<std::uint32_t> out;
  std::uint32_t left = count;
  whole = true;
  for (const std::int64_t side : given) {
    const auto length = static_cast<std::uint32_t>(std::min<std::int64_t>(side, left));
    if (length <= 1 || left % length != 0) continue;
    whole = whole && length == side;
    out.push_back(length);
    left /= length;
  }
  if (left > 1) out.push_back(left);
  return out;
}

Topology torus_of(const Crossing& crossing, const Speeds& port) {
  bool whole = true;
  const auto sides = sides_of(crossing.size, crossing.level->dimensions, whole);
  // The rate is that of the links in the dimensions that the group has: two in each.
  Speeds links = port;
  links.bandwidth = {port.bandwidth_of(0) / (2 * static_cast<double>(sides.size()))};
  return grid(sides, whole, links);
}

}  // namespace

Result<GroupNetwork> network_of(const GroupSpan& span, const Cluster& cluster,
                                const LevelParameters& parameters, TrafficKind traffic) {
  const detail::GroupPath path = detail::path_of(span, cluster, parameters);
  std::vector<Crossing> crossings;
  std::int64_t below = 1;
  for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
    const bool last = i + 1 == cluster.levels.size();
    const std::int64_t members = std::clamp(last ? span.ranks : span.members[i], below, span.ranks);
    if (members > below && crossings.size() < static_cast<std::size_t>(path.levels)) {
      if (members % below != 0 || span.ranks % members != 0) {
        return unlike("needs ranks that lie evenly; " + std::to_string(span.ranks) +
                      " ranks of the group are " + std::to_string(members) +
                      " to a domain of level '" + cluster.levels[i].name + "'");
      }
      crossings.push_back({&cluster.levels[i], &path.level[crossings.size()],
                           static_cast<std::uint32_t>(members / below)});
    }
    below = members;
  }
  if (crossings.empty()) return unlike("needs ranks of which each two are joined");
  Speeds speeds;
  GroupNetwork out;
  std::vector<std::uint32_t> sizes;
  for (const Crossing& each : crossings) {
    const NetworkParameters& p = *each.priced->parameters;
    speeds.bandwidth.emplace_back(each.priced->rate * efficiency_of(p, traffic));
    speeds.latency.push_back(Seconds(p.ring_hop * each.priced->latency) + p.ring_gap);
    out.base = std::max(out.base, p.base_latency);
    sizes.push_back(each.size);
  }
  const bool one = crossings.size() == 1;
  const bool grid_of_links =
      std::any_of(crossings.begin(), crossings.end(), [](const Crossing& each) {
        return each.level->topology == headway::Topology::torus ||
               each.level->topology == headway::Topology::ring;
      });
  if (grid_of_links && !one) {
    return unlike("is not placed on a torus or ring together with other levels");
  }
  if (grid_of_links) {
    out.on = torus_of(crossings.front(), speeds);
  } else if (one && crossings.front().level->topology == headway::Topology::mesh) {
    const double peers = sizes.front() - 1.0;
    speeds.bandwidth = {speeds.bandwidth_of(0) / peers};
    out.on = full_mesh(sizes.front(), speeds);
  } else if (one) {
    out.on = one_switch(sizes.front(), speeds);
    out.on.reduces = crossings.front().level->in_network_reduction;
  } else {
    out.on = switched_grid(std::move(sizes), speeds);
  }
  return out;
}

}  // namespace headway::network
