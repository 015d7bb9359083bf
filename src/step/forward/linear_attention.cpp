// Attention with a state of fixed size [STEP-23].
#include <algorithm>

#include "step/forward/parts.hpp"

namespace headway {
namespace {

// Tokens that the kernels take at once: those of one chunk see each other as in attention, those
// before it through the state (github.com/fla-org/flash-linear-attention, chunks of 64).
constexpr std::int64_t kChunk = 64;

// [STEP-23] Keys that a query of softmax attention would see for the same work. In a chunk of C
// tokens, with keys of d and values of e: scores and values of the half below the diagonal, C/2;
// the state read and written, 2·2·d·e FLOPs of the 2·(d + e) a key. The delta rule adds the
// products of keys with keys, the solution of a triangle applied to keys and values, and one more
// reading of the state.
// Source: arXiv 2401.04658 §3, 2412.06464 §3.3. Valid for sequences much longer than a chunk. Known
// error: priced with the efficiency of attention of that length, since no such kernel was measured.
std::int64_t equivalent_keys(const Attention& attention) {
  const auto d = static_cast<double>(attention.head_dim);
  const auto e = static_cast<double>(attention.value_dim);
  const double half = static_cast<double>(kChunk) / 2;
  const double state = d * e / (d + e);
  double keys = half + 2 * state;
  if (attention.linear->form == LinearForm::delta_rule) {
    keys += half * d / (d + e) + half + state;
  }
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(keys + 0.5));
}

// Bytes of `width` channels over a convolution in time with its activation: read and written;
// backward its input is read again. Not fused, the activation is a pass of its own.
void add_convolution(Writer& writer, const Share& share, Bytes bytes) {
  const bool fused = share.job.fused;
  writer.pass(bytes * (fused ? 2 : 4), bytes * (fused ? 3 : 6), fused ? 1 : 2);
  writer.keep(bytes);  // its input
}

// [STEP-30] The scan of selective attention, in one kernel that keeps the state of each channel on
// the chip (arXiv 2312.00752 §3.3.2): values, their rates and gate, keys and queries are read, the
// result is written; backward the same is read again with the gradient, and a gradient of each
// written. Valid where memory decides. Known error: its exponentials, one for each number of the
// state, are not counted.
void add_scan(Writer& writer, Bytes values, Bytes keys) {
  writer.pass(4 * values + 2 * keys, 8 * values + 4 * keys, 1);
  writer.keep(2 * values + 2 * keys);  // rates, gate; keys, queries
}

// From the gated result to the residual.
void add_end(Writer& writer, const Share& share, const Layer& layer, Bytes out) {
  for (const Linear& matrix : linears(layer, share.model.hidden)) {
    if (matrix.role != Role::attention_output) continue;
    writer.linear(matrix, share.split.tp, share.tokens, {.kept = false});
  }
  if (share.trains_weights && share.saved_input < share.element) {
    writer.keep(out / share.element * share.saved_input);
  }
  writer.cross(Seam::exit, whole(share));
  add_residual(writer, share);
}

}  // namespace

void add_linear_attention(Writer& writer, const Share& share, const Layer& layer) {
  const Attention& attention = *layer.attention;
  const std::int64_t tp = share.split.tp;
  const std::int64_t heads = attention.heads / tp;
  const std::int64_t key_heads = std::max<std::int64_t>(1, attention.kv_heads / tp);
  const Bytes bytes = share.rows * share.element;  // of one column
  const bool selective = attention.linear->form == LinearForm::selective;
  const Bytes keys_and_queries = bytes * static_cast<double>(2 * key_heads * attention.head_dim);
  const Bytes out = bytes * static_cast<double>(heads * attention.value_dim);
  const Bytes channels = selective ? out : keys_and_queries + out;

  add_norm(writer, share);
  const std::int32_t entry = writer.cross(Seam::entry, whole(share));
  for (const Linear& matrix : linears(layer, share.model.hidden)) {
    if (matrix.role != Role::query_key_value) continue;
    writer.linear(matrix, tp, share.tokens, {.kept = false, .entry = entry});
    writer.keep(share.input_rows * share.hidden * kept_input(share, matrix.role), Piece::norm);
  }
  if (attention.linear->convolution > 0) add_convolution(writer, share, channels);
  if (selective) {
    for (const Linear& matrix : linears(layer, share.model.hidden)) {
      if (matrix.role != Role::state && matrix.role != Role::rate) continue;
      writer.linear(matrix, tp, share.tokens);
      // Of rates, keys and queries each rank makes a part of the sum, and needs all.
      if (matrix.role == Role::state) {
        writer.cross(Seam::exit, bytes * static_cast<double>(matrix.out));
      }
    }
    add_scan(writer, out, keys_and_queries / 2);
    add_end(writer, share, layer, out);
    return;
  }
  writer.keep(channels);  // queries, keys, values

  AttentionShape core{};
  const std::int64_t keys = equivalent_keys(attention);
  const std::int64_t document = share.job.document;
  const std::int64_t tokens =
      document > 0 ? std::min(document, share.job.sequence) : share.job.sequence;
  const std::int64_t chunks = std::max<std::int64_t>(1, tokens / keys);
  core.batch = share.split.micro_batch * (share.job.sequence / tokens) * chunks;
  core.heads = heads;
  core.kv_heads = key_heads;
  core.queries = tokens / chunks;
  core.keys = keys;
  core.head_dim = attention.head_dim;
  core.value_dim = attention.value_dim;
  core.causal = false;
  writer.attention(core);
  writer.keep(out, Piece::core);

  // The result's norm, read and written in the mean of the norms' kernels, and its gate.
  writer.pass(2 * out, 3 * out, 1);
  writer.keep(out);
  add_gate(writer, share, out);
  add_end(writer, share, layer, out);
}

}  // namespace headway
