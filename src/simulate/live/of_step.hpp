// The lists of a simulated step.
#pragma once

#include <string>

#include "layout/run.hpp"
#include "simulate/live/list.hpp"
#include "simulate/workload/workload.hpp"

namespace headway {

/// [LIVE-1] What each rank of the run does, in the order in which the simulation runs it: a kernel
/// takes the rank, a call is handed over as soon as the kernels that it needs are done, and waited
/// for before the first kernel that needs it. Receives from other stages are there one slot early.
/// What the host does beside kernels takes what it takes longer than they.
LiveList list_of_step(const Workload& workload, const Run& run, std::string source);

}  // namespace headway
