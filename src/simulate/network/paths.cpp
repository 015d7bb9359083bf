#include "simulate/network/paths.hpp"

#include <algorithm>

namespace headway::network {
namespace {

constexpr LinkId kNoWay = ~LinkId{0};

}  // namespace

Paths::Paths(std::span<const Link> links, std::size_t nodes)
    : links_(links.begin(), links.end()), into_(nodes), onward_(nodes) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (links_[i].to != kNowhere) into_[links_[i].to].push_back(static_cast<LinkId>(i));
  }
}

// Breadth first from the target back; a node keeps the first link of its file that is on a shortest
// way.
const std::vector<LinkId>& Paths::toward(NodeId to) {
  std::vector<LinkId>& onward = onward_[to];
  if (!onward.empty()) return onward;
  onward.assign(into_.size(), kNoWay);
  std::vector<NodeId> ring = {to}, next;
  std::vector<bool> reached(into_.size(), false);
  reached[to] = true;
  while (!ring.empty()) {
    next.clear();
    for (const NodeId node : ring) {
      for (const LinkId link : into_[node]) {
        const NodeId from = links_[link].from;
        if (reached[from]) continue;
        if (onward[from] == kNoWay) next.push_back(from);
        onward[from] = std::min(onward[from], link);
      }
    }
    for (const NodeId node : next) reached[node] = true;
    ring.swap(next);
  }
  return onward;
}

bool Paths::route(NodeId from, NodeId to, std::vector<LinkId>& into) {
  if (from == to) return true;
  const std::vector<LinkId>& onward = toward(to);
  if (onward[from] == kNoWay) return false;
  for (NodeId at = from; at != to; at = links_[onward[at]].to) into.push_back(onward[at]);
  return true;
}

}  // namespace headway::network
