// A dense feed-forward part with its norm and residual, and the activation that experts share.
#include "model/count.hpp"
#include "step/forward/parts.hpp"

namespace headway {

Columns gate_and_up(const Share& share, const Layer& layer, const Linear& matrix) {
  return keeps_apart(share, layer) ? columns_apart(matrix.out) : Columns();
}

// The activation between the two products for `elements` of its result, in a layer's piece
// `around`. Where only the activation runs again (`piece`), what enters it is kept.
void add_activation(Writer& writer, const Share& share, const FeedForward& part, double elements,
                    Piece piece, Piece around) {
  const Bytes bytes = elements * share.element;
  const bool fused = share.job.fused;
  // Kept in 8 bit, gate and up are written once more, and read back as such.
  const bool small = part.gated && share.job.small_activation_inputs;
  const Bytes input = elements * (small ? Bytes(1) : share.element);
  const bool in_products = around == Piece::experts && share.job.fused_experts;
  writer.enter(piece, around);
  if (in_products) {
    // read and written by the products
  } else if (part.gated) {
    // gate and up read, product written; not fused: the activated gate goes through memory.
    const Bytes written = small ? 2 * input : Bytes(0);
    const Bytes read_less = small ? 2 * (bytes - input) : Bytes(0);
    writer.pass(bytes * (fused ? 3 : 5) + written, bytes * (fused ? 5 : 8) - read_less,
                fused ? 1 : 2);
  } else {
    writer.pass(bytes * 2, bytes * 3);
  }
  writer.enter(around);
  writer.keep(part.gated ? 2 * input + (fused ? Bytes(0) : bytes) : bytes);
}

void add_feed_forward(Writer& writer, const Share& share, const Layer& layer) {
  const std::int64_t tp = share.split.tp;
  const FeedForward& part = *layer.feed_forward;
  writer.serve(Module::feed_forward);
  // In a model with experts only their activation runs again alone.
  const Piece activation = has_experts(share.model) ? Piece::feed_forward : Piece::activation;
  std::int32_t entry = -1;
  if (!layer.parallel) {
    if (layer.norms > 0) add_norm(writer, share);
    entry = writer.cross(Seam::entry, whole(share));
  }
  for (const Linear& matrix : linears(layer, share.model.hidden)) {
    if (matrix.role == Role::feed_forward_up) {
      const Bytes saved = kept_input(share, matrix.role);
      if (!layer.parallel) writer.keep(share.input_rows * share.hidden * saved, Piece::norm);
      writer.enter(Piece::feed_forward);
      writer.linear(matrix, tp, share.tokens,
                    {.kept = false, .entry = entry, .apart = gate_and_up(share, layer, matrix)});
      add_activation(writer, share, part,
                     share.rows * static_cast<double>(part.width) / static_cast<double>(tp),
                     activation, Piece::feed_forward);
    } else if (matrix.role == Role::feed_forward_down) {
      writer.linear(matrix, tp, share.tokens, {.piece = activation});
      writer.enter(Piece::other);
    }
  }
  if (layer.parallel) return;  // summed with the attention's result before its one exit
  writer.cross(Seam::exit, whole(share));
  add_residual(writer, share);
}

}  // namespace headway
