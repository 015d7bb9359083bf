// How long replicas wait for each other.
#pragma once

#include <cstdint>

#include "method/method.hpp"

namespace headway {

/// [SIM-53] Of what waiting for the slowest of so many replicas in every step adds, the part that
/// is left where they meet as the method has it: 0 to 1. Pure.
double waiting_part(const Method& method, std::int64_t replicas);

}  // namespace headway
