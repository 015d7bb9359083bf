// Some of a topology's ranks among themselves.
#pragma once

#include <span>

#include "simulate/topology/topology.hpp"

namespace headway::network {

/// The topology as these ranks see it, which are different: they are its ranks 0, 1, ... in their
/// order, the others nodes that may be passed. Of a grid without its sizes, unless all are there.
Topology part_of(const Topology& on, std::span<const NodeId> members);

}  // namespace headway::network
