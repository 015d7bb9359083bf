// What matrix products take in a pass.
#pragma once

#include "study/infer/items.hpp"
#include "study/infer/pass/context.hpp"

namespace headway {

/// `item`: its op, whose bytes become those of weights as they are stored.
Seconds product_time(const PassContext& of, const Op& op, const Matmul& product, bool of_layer,
                     PassItem& item);

/// [INFER-22] What an op takes at the rate that long products of its arithmetic sustain.
Seconds rated_time(const PassContext& of, const Op& op, bool of_layer);

}  // namespace headway
