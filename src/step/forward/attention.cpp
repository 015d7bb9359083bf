// Attention with its norm and residual. What is kept is listed in docs/models/step.md [STEP-5].
#include <algorithm>
#include <cmath>

#include "step/forward/forward.hpp"
#include "step/forward/parts.hpp"

namespace headway {
namespace {

// Queries and keys of an indexer are turned by their positions and written in 8 bits. Serving alone
// has it: training with an indexer is refused.
void add_index_keys(Writer& writer, const Share& share, const KeyIndexer& indexer) {
  const auto width = static_cast<double>((indexer.heads + 1) * indexer.head_dim);
  writer.pass(share.rows * width * (share.element + Bytes(1)), Bytes(0), 2);
}

// Packed documents attend to themselves: those that lie on a rank whole, longer ones each over all
// ranks of a ring.
void pack_documents(AttentionShape& core, const Job& job) {
  const std::int64_t here = documents_in(core.queries, job);
  const std::int64_t all = core.keys == job.sequence ? documents_in(job.sequence, job) : 1;
  if (here > 1) {
    core.batch *= here;
    core.queries = core.keys = nearest_quotient(core.queries, here);
    core.ring = 1;
  } else if (all > 1) {
    core.batch *= all;
    core.queries = nearest_quotient(core.queries, all);
    core.keys = nearest_quotient(core.keys, all);
  }
}

}  // namespace

void add_attention(Writer& writer, const Share& share, const Layer& layer) {
  const Attention& attention = *layer.attention;
  const LayerSplit& split = share.split;
  const std::int64_t tp = split.tp;
  const std::int64_t heads = attention.heads / tp;
  const std::int64_t kv_heads = std::max<std::int64_t>(1, attention.kv_heads / tp);
  const bool quantised = share.trains_weights && share.saved_input < share.element;

  writer.serve(Module::attention);
  add_norm(writer, share);
  const std::int32_t entry = writer.cross(Seam::entry, whole(share));
  for (const Linear& matrix : linears(layer, share.model.hidden)) {
    switch (matrix.role) {
      case Role::query_key_value: {
        // Key-value heads fewer than tp are repeated on several ranks.
        Attention local = attention;
        local.heads = tp * heads;
        local.kv_heads = tp * kv_heads;
        const Columns columns = columns_apart(local);
        Linear joint = matrix;
        joint.out = columns.sum();
        writer.linear(joint, tp, share.tokens,
                      {.kept = false,
                       .entry = entry,
                       .apart = keeps_apart(share, layer) ? columns : Columns()});
        writer.keep(share.input_rows * share.hidden * kept_input(share, matrix.role), Piece::norm);
        break;
      }
      case Role::query_down:
      case Role::key_value_down:
      case Role::index_key:
      case Role::index_weight:
        writer.linear(matrix, tp, share.tokens, {.entry = entry});
        break;
      case Role::query_up:
      case Role::key_value_up:
        writer.enter(Piece::latent_up);
        writer.linear(matrix, tp, share.tokens, {.kept = false});
        writer.enter(Piece::other);
        writer.keep(share.rows * static_cast<double>(matrix.in) * kept_input(share, matrix.role));
        break;
      case Role::index_query:
        writer.linear(matrix, tp, share.tokens, {.kept = false});
        add_index_keys(writer, share, *attention.indexer);
        break;
      default:
        break;
    }
  }

  const double query_width = static_cast<double>(heads * attention.head_dim);
  const double key_width = static_cast<double>(kv_heads * attention.head_dim);
  const double value_width = static_cast<double>(kv_heads * attention.value_dim);
  const double out_width = static_cast<double>(heads * attention.value_dim);
  const Bytes bytes = share.rows * share.element;  // of one column
  if (share.model.learned_positions == 0) {        // rotary: queries and keys read and written
    const Bytes rotated = bytes * (query_width + key_width);
    const bool fused = share.job.fused || share.habit.kernels.fused_norms;
    writer.pass(rotated * (fused ? 2 : 6), rotated * (fused ? 2 : 6), fused ? 2 : 8);
  }
  if (!share.job.fused && share.habit.kernels.attention_copies > 0) {
    const Bytes copied = bytes * query_width * share.habit.kernels.attention_copies;
    writer.pass(copied, copied, 4);
  }
  if (attention.query_key_norm != QueryKeyNorm::none) {
    writer.pass(2 * bytes * (query_width + key_width), 3 * bytes * (query_width + key_width), 2);
    writer.keep(bytes * (query_width + key_width));
  }
  writer.keep(bytes * (query_width + key_width + value_width),
              attention.latent ? Piece::latent_up : Piece::other);
  if (!share.job.fused) {  // the three gradients are put together for the one product
    writer.pass(Bytes(0), 2 * bytes * (query_width + key_width + value_width));
  }
  if (share.job.padding_mask && share.job.attention != AttentionKernel::unfused) {
    // Tokens of q, k, v gathered (read, written), the result set to zero and scattered; backward
    // the same the other way round.
    const Bytes inner = bytes * (query_width + key_width + value_width);
    writer.pass(2 * inner + 3 * bytes * out_width, 3 * inner + 2 * bytes * out_width, 6);
    writer.keep(bytes * out_width);  // gathered; q, k, v are kept gathered instead of whole
  }

  const Bytes keys_and_values = bytes * (key_width + value_width);
  const double selected = split.cp > 1 ? share.job.method.selected : 1;
  if (selected < 1) {
    // [METHOD-7] Keys and values are read for what attention will ask of them, those are gathered;
    // backward their gradients are scattered.
    writer.pass((1 + 2 * selected) * keys_and_values, 2 * selected * keys_and_values, 2);
  }
  writer.cross({.seam = Seam::keys, .tensor = keys_and_values, .beside = bytes * query_width});
  const bool exchange_heads = split.cp > 1 && split.context_exchange == ContextExchange::all_to_all;
  AttentionShape core{};
  core.batch = split.micro_batch;
  core.heads = exchange_heads ? heads / split.cp : heads;
  core.kv_heads = exchange_heads ? std::max<std::int64_t>(1, kv_heads / split.cp) : kv_heads;
  core.queries = exchange_heads ? share.job.sequence : share.job.sequence / split.cp;
  // All keys, or one's own and what of the others' is selected.
  const std::int64_t own = share.job.sequence / split.cp;
  core.keys = selected < 1 ? own + static_cast<std::int64_t>(std::llround(
                                       selected * static_cast<double>(share.job.sequence - own)))
                           : share.job.sequence;
  core.head_dim = attention.head_dim;
  core.value_dim = attention.value_dim;
  core.causal = share.job.causal;
  core.window = attention.window;
  if (!exchange_heads && (core.window == 0 || core.window >= core.keys)) core.ring = split.cp;
  core.dropout = share.dropout;
  core.eager = !share.job.fused && share.job.attention == AttentionKernel::unfused;
  pack_documents(core, share.job);
  writer.attention(core);
  const double scores =
      static_cast<double>(core.batch * core.heads * core.queries) * static_cast<double>(core.keys);
  if (share.job.attention == AttentionKernel::unfused) {
    // The softmax keeps its result, and so does the product with the values what it reads: the same
    // tensor, but behind dropout, which keeps a mask, or behind an eager softmax of 32 bits.
    writer.keep(scores * (core.eager ? Bytes(4) : share.element), Piece::core);
    if (core.eager || core.dropout > 0) writer.keep(scores * share.element, Piece::core);
    if (core.dropout > 0) writer.keep(scores * Bytes(1), Piece::core);
  } else {
    writer.keep(share.rows * static_cast<double>(heads) * Bytes(4), Piece::core);  // log-sum-exp
  }

  writer.cross(Seam::result, bytes * out_width);
  for (const Linear& matrix : linears(layer, share.model.hidden)) {
    if (matrix.role != Role::attention_output) continue;
    writer.linear(matrix, tp, share.tokens, {.kept = false});
  }
  // Flash kernels need their result for the backward pass; in 16 bit it is also the input kept for
  // the output projection, whatever is trained there.
  writer.keep(bytes * out_width);
  if (quantised) writer.keep(share.rows * out_width * share.saved_input);
  if (attention.gated) add_gate(writer, share, bytes * out_width);
  writer.cross(Seam::exit, whole(share));
  add_residual(writer, share);
}

}  // namespace headway
