#include "simulate/topology/file.hpp"

#include <algorithm>
#include <memory>

#include "base/text.hpp"
#include "simulate/network/file.hpp"
#include "simulate/network/paths.hpp"

namespace headway::network {
namespace {

constexpr std::size_t kMostRanksOfFile = 4096;

// Nodes in the order of the file by their numbers in the topology: ranks first.
std::vector<NodeId> numbers_of(const NamedLinks& links, const std::vector<std::string>& ranks,
                               Fields& root) {
  std::vector<NodeId> out(links.nodes.size(), kNowhere);
  NodeId next = 0;
  for (const std::string& name : ranks) {
    const auto found = links.node_of.find(name);
    if (found == links.node_of.end()) {
      root.fail("ranks", "'" + printable(name) + "' is an end of no link", Trouble::unknown);
    } else if (out[found->second] != kNowhere) {
      root.fail("ranks", "name '" + printable(name) + "' twice");
    } else {
      out[found->second] = next++;
    }
  }
  for (NodeId& each : out) {
    if (each == kNowhere) each = next++;
  }
  return out;
}

}  // namespace

Result<Topology> read_topology_file(const Document& document) {
  Problems problems;
  Fields root(document, problems);
  NamedLinks links = read_links(root);
  const std::vector<std::string> ranks = root.texts_or_empty("ranks");
  root.reject_unknown();
  if (problems.empty() && ranks.size() < 2) {
    root.fail("ranks", "need at least two names of nodes", Trouble::missing);
  }
  if (ranks.size() > kMostRanksOfFile) {
    root.fail("ranks", "are more than " + std::to_string(kMostRanksOfFile));
  }
  for (std::size_t i = 0; i < links.links.size(); ++i) {
    if (links.links[i].from != kNowhere && links.links[i].to != kNowhere) continue;
    root.fail("links", "'" + printable(links.names[i]) + "' needs from and to", Trouble::missing);
  }
  if (!problems.empty()) return problems;
  const std::vector<NodeId> number = numbers_of(links, ranks, root);
  if (!problems.empty()) return problems;
  for (Link& link : links.links) link.from = number[link.from], link.to = number[link.to];

  const auto count = static_cast<NodeId>(ranks.size());
  const auto paths = std::make_shared<Paths>(links.links, links.nodes.size());
  std::vector<LinkId> way;
  for (NodeId from = 0; from < count; ++from) {
    for (const NodeId to : {(from + 1) % count, (from + count - 1) % count}) {
      if (paths->route(from, to, way)) continue;
      root.fail("ranks", "are disconnected: no links lead from '" + printable(ranks[from]) +
                             "' to '" + printable(ranks[to]) + "'");
    }
  }
  if (!problems.empty()) return problems;
  return Topology{.name = document.file,
                  .ranks = count,
                  .links = std::move(links.links),
                  .route = [paths](NodeId from, NodeId to, std::vector<LinkId>& into) {
                    return paths->route(from, to, into);
                  }};
}

}  // namespace headway::network
