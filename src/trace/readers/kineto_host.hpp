// Calls that a backend of the host (gloo, MPI) makes: what the program asked for and what was done.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/readers/kineto_events.hpp"

namespace headway {

/// Adds the calls that `events.host_ops` say a backend of the host did, each with what was asked
/// for, where that is recorded.
void add_host_calls(const KinetoEvents& events, Recording& recording);

}  // namespace headway
