// The network that a recording is simulated on: links, or a cluster as the closed forms have it.
#pragma once

#include <optional>
#include <string>

#include "cluster/cluster.hpp"
#include "simulate/collectives/question.hpp"
#include "simulate/recorded/program.hpp"

namespace headway {

struct OtherNetwork {
  std::optional<network::LinksQuestion> links;
  std::optional<Cluster> cluster;  // instead
  std::string name() const { return links ? links->on.name : cluster->name; }
};

/// Ranks of the run that was recorded, as far as it says: at least so many.
std::int64_t ranks_of_run(const Recording& recording);

/// [SIM-44] What each call takes there, with all of its ranks ready. Over links: placed in time by
/// the algorithm that is asked for where it does the operation, else by the best; a group alone, as
/// if no other used its links. On a cluster: [COLL-1] to [COLL-8]. Broadcast and gather as an
/// all-gather, reduce and scatter as a reduce-scatter of the same bytes (what a ring in pieces
/// takes), a barrier as an all-reduce of 8 bytes. Problems: calls that cannot be priced.
Result<std::vector<Nanoseconds>> transfers_on(const OtherNetwork& network,
                                              const RecordedProgram& program,
                                              const Recording& recording);

}  // namespace headway
