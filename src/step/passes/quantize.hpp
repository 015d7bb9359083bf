// What ZeRO++ sends in fewer bits, and what it does for that. Internal to src/step.
#pragma once

#include "step/forward/share.hpp"
#include "step/program/program.hpp"

namespace headway {

/// Bytes on the wire of a weight and of a gradient; of a scale, of which so many weights, and a row
/// of a gradient's matrix, have one.
constexpr Bytes kQuantizedWeight{1}, kQuantizedGradient{0.5}, kScale{4};
constexpr double kWeightsOfScale = 8000;

/// What is sent in fewer bits is brought into them and back. `matrices`: of the block.
void quantize(Block& block, const Share& share, double matrices);

}  // namespace headway
