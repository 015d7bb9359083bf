// How long a placed step takes: its parts and its transfers in time.
#pragma once

#include <optional>

#include "study/ramp/placement.hpp"
#include "study/ramp/step_graph.hpp"

namespace headway {

struct RampStepTime {
  Seconds step;
  Seconds communication;  // while something is sent
  Seconds computation;    // while something is computed; both overlap
};

/// [JOBS-6] Seconds of each edge. All edges out of an operation's forward parts, all into its
/// backward parts, are one all-reduce of the sum of their sizes where they come from and go to the
/// same servers; each pair of backward parts exchanges weights by one of two; what is left goes
/// from one to one. Nothing is sent on one server, nor where there is nothing to send.
std::vector<Seconds> edge_times(const RampMachine& machine, const StepGraph& graph,
                                const RampPlacement& placement);

/// [JOBS-7] Runs the step: each server runs the ready part of the shortest compute, which another
/// may interrupt; ready transfers all run at once; time moves to the next end of a running part or
/// of the shortest transfer of some pair of servers. Nothing: the graph never ends.
std::optional<RampStepTime> ramp_step_time(const RampMachine& machine, const StepGraph& graph,
                                           const RampPlacement& placement);

}  // namespace headway
