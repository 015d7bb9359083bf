// Which servers run the parts of a job.
#pragma once

#include <optional>
#include <vector>

#include "study/ramp/machine.hpp"
#include "study/ramp/profile.hpp"

namespace headway {

/// The servers of each operation's parts, forward and backward alike, and in what order operations
/// were placed.
struct RampPlacement {
  std::vector<std::vector<RampServer>> servers;  // of each operation of the profile
  std::vector<std::size_t> order;

  /// The servers that run anything, each once, in order.
  std::vector<RampServer> used() const;
};

/// Blocks of `count` servers in the order in which they are tried: of each symmetric shape from the
/// origin on; where none of these is free a server of each of as many racks and groups, then one of
/// each of as many groups.
std::vector<std::vector<RampServer>> candidate_blocks(const RampMachine& machine, int count);

/// [JOBS-5] Places operations one after another, none before those that it needs: on the servers of
/// the first of these that has as many parts and memory left, else on the first of
/// candidate_blocks() that has. Nothing: some operation has no place. `busy`: servers of other
/// jobs. Memory is that of forward operations, as the published code counts it.
std::optional<RampPlacement> place_first_fit(const RampMachine& machine,
                                             const ModelProfile& profile,
                                             const std::vector<int>& split,
                                             const std::vector<bool>& busy);

}  // namespace headway
