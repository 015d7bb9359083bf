#include "step/forward/features.hpp"

namespace headway {
namespace {

// Bytes of one node's number, and of what memory brings at once where one lies anywhere.
constexpr Bytes kNumber(8), kSector(32);

}  // namespace

Bytes held_features(const Share& share, const NodeFeatures& features) {
  const Bytes values =
      features.nodes * static_cast<double>(features.width * features.value_bytes) * Bytes(1);
  const double ranks = static_cast<double>(share.split.ep);
  return (values * share.split.tables.cached + features.edges * kNumber) / ranks;
}

// [STEP-32] E draws and U nodes of all samples of a rank, D features of f bytes each, held on so
// many ranks, or beside them by the hosts. Drawn: 32 B read for each edge, two numbers written and
// read once to find which nodes are new. Fetched: U·D·f read where they lie, written where they are
// needed, read again and written in the width of activations. Lower bounds: no sorting, hosts that
// take no time.
void write_features(Writer& writer, const Share& share, const NodeFeatures& features) {
  const double rows = share.rows * features.rows, draws = share.rows * features.draws;
  const double values = rows * static_cast<double>(features.width);
  const Bytes stored = values * Bytes(static_cast<double>(features.value_bytes));
  const double here = share.split.tables.cached;
  writer.serve(Module::embedding);
  writer.freeze(true);
  writer.pass(draws * (kSector + 4 * kNumber), Bytes(0), features.kernels);
  writer.pass((1 + here) * stored + stored + values * share.element, Bytes(0), 2);
  writer.freeze(false);
  if (here > 0) writer.cross(Seam::features, here * (stored + rows * kNumber));
  writer.fetch((1 - here) * stored / 2);  // half beside each pass
  writer.serve(Module::other);
}

}  // namespace headway
