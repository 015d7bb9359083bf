// simulate collective: one call in time.
#pragma once

#include <string>

#include "simulate/collectives/question.hpp"

namespace headway {

/// For a terminal of 80 columns.
std::string simulate_collective_text(const network::CollectiveQuestion& question,
                                     const network::SimulatedCollective& simulated);
/// {op, algorithm, topology, ranks, bytes, time_s, steps, bytes_sent_per_rank, bound_s, ...}.
std::string simulate_collective_json(const network::CollectiveQuestion& question,
                                     const network::SimulatedCollective& simulated);

}  // namespace headway
