// Features of the nodes of a graph, fetched for the neighbourhoods of samples [STEP-32]. Internal
// to src/step/forward.
#pragma once

#include "step/forward/writer.hpp"

namespace headway {

/// What a rank holds of them, and of the graph's edges.
Bytes held_features(const Share& share, const NodeFeatures& features);

/// Drawing the neighbourhoods, and fetching what they need.
void write_features(Writer& writer, const Share& share, const NodeFeatures& features);

}  // namespace headway
