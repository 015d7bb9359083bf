// Bytes of the optimiser. Internal to src/step.
#pragma once

#include "step/forward/share.hpp"

namespace headway {

/// Bytes a trained parameter of the optimiser's own states, without master weights.
Bytes optimizer_state_bytes(const Job& job);

/// Ranks that share the states of what they all hold: where they are sharded.
double states_ranks(const Layout& layout);
double expert_states_ranks(const Layout& layout);

/// Whether an fp32 copy of the weights stands beside those that the products read.
bool keeps_master(const Job& job);

}  // namespace headway
