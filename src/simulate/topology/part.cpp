#include "simulate/topology/part.hpp"

#include <map>
#include <memory>

namespace headway::network {
namespace {

// Members of each inner domain where all have as many, next to each other; else 0.
std::uint32_t members_of_a_domain(std::span<const NodeId> members, std::uint32_t domain) {
  if (domain == 0) return 0;
  std::vector<std::uint32_t> counts;
  std::map<NodeId, bool> seen;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const NodeId of = members[i] / domain;
    if (i > 0 && of == members[i - 1] / domain) {
      ++counts.back();
      continue;
    }
    if (seen[of]) return 0;
    seen[of] = true;
    counts.push_back(1);
  }
  const bool even = std::all_of(counts.begin(), counts.end(),
                                [&](std::uint32_t count) { return count == counts.front(); });
  return even && counts.size() > 1 ? counts.front() : 0;
}

}  // namespace

Topology part_of(const Topology& on, std::span<const NodeId> members) {
  bool whole = members.size() == on.ranks;
  for (NodeId i = 0; whole && i < on.ranks; ++i) whole = members[i] == i;
  if (whole) return on;

  // Members become the first nodes, all others follow in their order.
  NodeId nodes = on.ranks;
  for (const Link& link : on.links) {
    for (const NodeId end : {link.from, link.to}) {
      if (end != kNowhere) nodes = std::max(nodes, end + 1);
    }
  }
  std::vector<NodeId> new_of(nodes, kNowhere);
  NodeId next = 0;
  for (const NodeId member : members) new_of[member] = next++;
  for (NodeId& node : new_of) {
    if (node == kNowhere) node = next++;
  }
  Topology out{.name = on.name, .ranks = static_cast<std::uint32_t>(members.size())};
  out.links = on.links;
  for (Link& link : out.links) {
    for (NodeId* end : {&link.from, &link.to}) {
      if (*end != kNowhere) *end = new_of[*end];
    }
  }
  const auto old_of = std::make_shared<const std::vector<NodeId>>(members.begin(), members.end());
  out.route = [route = on.route, old_of](NodeId from, NodeId to, std::vector<LinkId>& into) {
    return route((*old_of)[from], (*old_of)[to], into);
  };
  const std::uint32_t inner = members_of_a_domain(members, on.group);
  out.group = inner > 1 ? inner : 0;
  for (const NodeId node : on.ring) {
    if (new_of[node] < out.ranks) out.ring.push_back(new_of[node]);
  }
  out.reduces = on.reduces;
  return out;
}

}  // namespace headway::network
