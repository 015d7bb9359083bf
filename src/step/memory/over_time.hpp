// What a block keeps while it runs, item after item: a visitor of its program [STEP-9].
#pragma once

#include <vector>

#include "step/program/program.hpp"

namespace headway {

struct Share;

/// Bytes kept for the backward pass after each item of a differentiated program, forward and
/// backward: what an item keeps is there from it until the item that reads it last. What runs again
/// is let go at the end of the forward pass but for what recomputation keeps, and made anew before
/// the backward pass. Without what is alive only while an item runs (Program::working).
std::vector<Bytes> kept_over_time(const Program& program, const Share& share,
                                  const Recomputation& recomputation);

}  // namespace headway
