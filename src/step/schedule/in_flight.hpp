// What a rank keeps of micro-batches whose backward pass is still to come, from its order alone.
#pragma once

#include <vector>

#include "step/schedule/order.hpp"

namespace headway {

/// When a micro-batch's activations are no longer needed: once its input gradient is there, or, as
/// inputs of the products are, once its weight gradient is.
enum class KeptUntil : std::uint8_t { input_gradient, weight_gradient };

/// The most that a rank keeps at once, where each micro-batch in a chunk keeps `kept[chunk]`
/// (counts: 1 each). The micro-batch in work is among them.
double most_in_flight(const RankOrder& order, const std::vector<double>& kept,
                      KeptUntil until = KeptUntil::weight_gradient);

}  // namespace headway
