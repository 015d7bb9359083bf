// Context parallelism: a ring that passes keys and values on (arXiv 2310.01889; Megatron-LM), or an
// all-to-all that trades tokens for heads (DeepSpeed-Ulysses, arXiv 2309.14509).
#include "step/block_builder.hpp"

namespace headway {

void add_context_parallel(BlockBuilder& builder, const Slice& slice, const Attention& attention) {
  const Layout& layout = slice.layout;
  if (layout.cp == 1) return;
  const auto width = [&](std::int64_t heads, std::int64_t dim) {
    return static_cast<double>(std::max<std::int64_t>(1, heads / layout.tp) * dim);
  };
  const double queries = width(attention.heads, attention.head_dim);
  const double outputs = width(attention.heads, attention.value_dim);
  const double keys_and_values = width(attention.kv_heads, attention.head_dim) +
                                 width(attention.kv_heads, attention.value_dim);
  const double token_bytes = slice.rows * slice.element;
  if (layout.context_exchange == ContextExchange::ring) {
    // cp - 1 passes on of the rank's own keys and values, each under the attention of the piece
    // that came before; backward carries their gradients, too [STEP-3].
    const double passes = static_cast<double>(layout.cp - 1);
    builder.call(CollectiveOp::send_receive, Group::cp, Phase::forward,
                 token_bytes * keys_and_values, HiddenBy::same_block, slice.activation, passes);
    builder.call(CollectiveOp::send_receive, Group::cp, Phase::backward,
                 2 * token_bytes * keys_and_values, HiddenBy::same_block, slice.activation, passes);
    return;
  }
  // Queries, keys and values in, the result out; the reverse backward [STEP-4].
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    builder.call(CollectiveOp::all_to_all, Group::cp, phase,
                 token_bytes * (queries + keys_and_values), HiddenBy::nothing, slice.activation);
    builder.call(CollectiveOp::all_to_all, Group::cp, phase, token_bytes * outputs,
                 HiddenBy::nothing, slice.activation);
  }
}

}  // namespace headway
