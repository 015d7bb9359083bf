// The parts of a layer, each written down behind those before it. Internal to src/step/forward.
#pragma once

#include "step/forward/writer.hpp"

namespace headway {

/// One activation, which goes round in tensor parallelism: that of micro-batch · sequence / cp
/// tokens of the hidden width.
inline Bytes whole(const Share& share) {
  return share.rows * share.hidden * share.element;
}

void add_norm(Writer& writer, const Share& share);
void add_residual(Writer& writer, const Share& share);
void add_attention(Writer& writer, const Share& share, const Layer& layer);
void add_linear_attention(Writer& writer, const Share& share, const Layer& layer);
/// A result of so many bytes multiplied by a gate as wide.
void add_gate(Writer& writer, const Share& share, Bytes bytes);
/// The columns of gate and up where they are products of their own.
Columns gate_and_up(const Share& share, const Layer& layer, const Linear& matrix);
void add_feed_forward(Writer& writer, const Share& share, const Layer& layer);
/// The activation between two products, for `elements` of its result, in a layer's piece `around`.
/// Where only the activation runs again (`piece`), what enters it is kept.
void add_activation(Writer& writer, const Share& share, const FeedForward& part, double elements,
                    Piece piece, Piece around);
void add_experts(Writer& writer, const Share& share, const Layer& layer);

}  // namespace headway
