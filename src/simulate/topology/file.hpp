// A topology of links in a file.
#pragma once

#include "base/document/document.hpp"
#include "simulate/topology/topology.hpp"

namespace headway::network {

/// `ranks`, names of nodes in order, and the tables [[links]] as of a network, each with from and
/// to; routes of fewest links. Problems: all that is wrong, ranks that no way joins among it.
Result<Topology> read_topology_file(const Document& document);

}  // namespace headway::network
