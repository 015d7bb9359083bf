// The ways through a network whose links know their ends.
#pragma once

#include <span>
#include <vector>

#include "simulate/network/network.hpp"

namespace headway::network {

/// Routes of fewest links; of several the one whose links stand first.
class Paths {
 public:
  Paths(std::span<const Link> links, std::size_t nodes);

  /// Appends the links from one node to another. False: no way leads there.
  bool route(NodeId from, NodeId to, std::vector<LinkId>& into);

 private:
  const std::vector<LinkId>& toward(NodeId to);

  std::vector<Link> links_;
  std::vector<std::vector<LinkId>> into_;    // of each node
  std::vector<std::vector<LinkId>> onward_;  // of each target that was asked for: the next link of
                                             // each node
};

}  // namespace headway::network
