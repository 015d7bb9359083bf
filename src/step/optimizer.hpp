// Internal to src/step: bytes of the optimiser.
#pragma once

#include "step/block_builder.hpp"

namespace headway {

/// Bytes a trained parameter of the optimiser's own states, without master weights.
double optimizer_state_bytes(const Job& job);

/// Whether an fp32 copy of the weights stands beside those that the products read.
bool keeps_master(const Job& job);

}  // namespace headway
