// Tables of embeddings, split over ranks by the schemes of a layout [STEP-31]. Internal to
// src/step/forward, but for who plans them.
#pragma once

#include "step/forward/writer.hpp"

namespace headway {

/// The share of a mean rank's load that the fullest one has where parts of these loads lie whole on
/// one of `ranks` each, the heaviest first, each on the lightest rank (>= 1).
double fullest_share(std::vector<double> loads, std::int64_t ranks);

/// Values of tables that a rank holds: the fullest one of those that are parted; of copies each.
struct HeldTables {
  double parted = 0;
  double copied = 0;
  Bytes value{4};  // of one
};
HeldTables held_tables(const Share& share, const EmbeddingBags& bags);

/// Reading, exchange, gradients.
void write_tables(Writer& writer, const Share& share, const EmbeddingBags& bags);

}  // namespace headway
