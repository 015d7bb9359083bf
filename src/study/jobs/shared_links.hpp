// Jobs that share the links above their switches: how much each takes longer there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/quantity.hpp"

namespace headway {

/// A training step as the network of the fleet sees it: computation with what is sent beside it,
/// then what is sent while nothing is computed.
struct StepOnLinks {
  Seconds compute;          // with all that does not leave a node
  Seconds hidden, exposed;  // of sending, where no other job is
  double exchanged = 0;  // share of the sending that is between all pairs of nodes, not in a ring

  Seconds alone() const { return std::max(compute, hidden) + exposed; }
};

/// A job's use of shared links.
struct JobOnLinks {
  StepOnLinks step;
  std::vector<std::uint32_t> links;
  double streams = 1;  // of one node each, that cross the fullest of them
};

/// [JOBS-13] What each job's step takes over what it takes alone, mean of simulated steps: those of
/// all jobs go on side by side, a job's first step begins somewhere in that of the others, and
/// flows share links max-min fair. `stream`: what a node sends.
std::vector<double> slowdowns_on_links(std::span<const JobOnLinks> jobs,
                                       std::span<const BytesPerSecond> links,
                                       BytesPerSecond stream);

/// Nodes in order, so many below each switch, whose links upwards carry `uplink` each way.
struct LeafSwitches {
  std::size_t nodes = 0;  // 0: all below one switch
  BytesPerSecond uplink, stream;

  /// Links and streams of a job on these nodes, which stand in their order; none where it lies
  /// below one switch.
  JobOnLinks use(const StepOnLinks& step, std::span<const std::size_t> servers) const;
};

}  // namespace headway
