// simulate network: links, flows, and when each ends.
#pragma once

#include <string>

#include "simulate/network/flows.hpp"

namespace headway {

/// For a terminal of 80 columns.
std::string simulate_network_text(const network::SimulatedNetwork& simulated);
/// {end_s, flows: [{name, start_s, end_s, bytes, rates: [{from_s, bytes_per_s}]}], links: [{name,
/// bytes, share_used}]}.
std::string simulate_network_json(const network::SimulatedNetwork& simulated);

}  // namespace headway
