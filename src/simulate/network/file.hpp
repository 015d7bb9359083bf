// A file of links and flows.
#pragma once

#include <string>
#include <unordered_map>

#include "base/document/document.hpp"
#include "simulate/network/flows.hpp"

namespace headway::network {

/// Links by their name, and the nodes that they join, numbered in the order of the file.
struct NamedLinks {
  std::vector<std::string> names, nodes;
  std::vector<Link> links;
  std::unordered_map<std::string, LinkId> link_of;
  std::unordered_map<std::string, NodeId> node_of;
};

/// The tables [[links]]: name, capacity, latency ("0 s"), from and to (both or none), both_ways
/// (false): the same back, by the name behind a "-" ("-a").
NamedLinks read_links(Fields& root);

/// Links, and the tables [[flows]]: name, bytes, route (links by name) or from and to (the way of
/// fewest links), start, weight, bound, after (flows by name); or everything that is wrong.
Result<NetworkQuestion> read_network(const Document& document);

}  // namespace headway::network
