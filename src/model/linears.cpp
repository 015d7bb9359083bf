#include "model/linear.hpp"

namespace headway {
namespace {

// Queries, keys, values and the gate of the result; two scalars a head where gates write the state,
// one where it says a rate. Of the selective form values and gate.
std::int64_t linear_width(const Attention& attention) {
  const LinearForm form = attention.linear->form;
  if (form == LinearForm::selective) return 2 * attention.heads * attention.value_dim;
  const std::int64_t scalars = form == LinearForm::delta_rule ? 2
                               : form == LinearForm::dual     ? 1
                                                              : 0;
  return attention.kv_heads * 2 * attention.head_dim +
         attention.heads * (2 * attention.value_dim + scalars);
}

// Every rank has all heads of an indexer: the keys that it keeps are of all heads of attention.
void add_indexer(Linears& list, const Attention& attention, std::int64_t hidden) {
  const KeyIndexer& indexer = *attention.indexer;
  const std::int64_t rank = attention.latent->query_rank;
  list.add({Role::index_query, Split::replicated, rank > 0 ? rank : hidden,
            indexer.heads * indexer.head_dim, false});
  list.add({Role::index_key, Split::replicated, hidden, indexer.head_dim, false});
  list.add({Role::index_weight, Split::replicated, hidden, indexer.heads, false});
}

// One product for queries, keys and values, whether a framework fuses them or not; or, in latent
// attention, the chain of low-rank projections. The down projections and their norms are
// replicated: a rank holds them whole, since the rank they map to is shared by all heads.
void add_attention(Linears& list, const Attention& attention, std::int64_t hidden) {
  const std::int64_t heads = attention.heads;
  if (attention.latent) {
    const LatentProjection& latent = *attention.latent;
    const std::int64_t queries = heads * attention.head_dim;
    if (latent.query_rank > 0) {
      list.add(
          {Role::query_down, Split::replicated, hidden, latent.query_rank, attention.qkv_bias});
      list.add({Role::query_up, Split::column, latent.query_rank, queries, false});
    } else {
      list.add({Role::query_up, Split::column, hidden, queries, false});
    }
    list.add({Role::key_value_down, Split::replicated, hidden,
              latent.key_value_rank + latent.rope_dim, attention.qkv_bias});
    list.add({Role::key_value_up, Split::column, latent.key_value_rank,
              heads * (attention.head_dim - latent.rope_dim + attention.value_dim), false});
    if (attention.indexer) add_indexer(list, attention, hidden);
  } else {
    list.add({Role::query_key_value, Split::column, hidden,
              attention.linear
                  ? linear_width(attention)
                  : heads * attention.head_dim +
                        attention.kv_heads * (attention.head_dim + attention.value_dim) +
                        (attention.gated ? heads * attention.value_dim : 0),
              attention.qkv_bias});
  }
  if (attention.linear && attention.linear->form == LinearForm::selective) {
    const std::int64_t values = heads * attention.value_dim;
    const std::int64_t rank = attention.linear->rate_rank;
    list.add({Role::state, Split::row, values, rank + 2 * attention.head_dim, false});
    list.add({Role::rate, Split::column, rank, values, true});
  }
  list.add({Role::attention_output, Split::row, heads * attention.value_dim, hidden,
            attention.output_bias});
}

void add_feed_forward(Linears& list, Role up, Role down, const FeedForward& part,
                      std::int64_t width, std::int64_t hidden) {
  list.add({up, Split::column, hidden, (part.gated ? 2 : 1) * width, part.bias});
  list.add({down, Split::row, width, hidden, part.bias});
}

void add_experts(Linears& list, const Experts& experts, std::int64_t hidden) {
  list.add({Role::router, Split::replicated, hidden, experts.count, experts.router_bias});
  add_feed_forward(list, Role::expert_up, Role::expert_down, experts.each, experts.each.width,
                   hidden);
  if (experts.shared_width > 0) {
    add_feed_forward(list, Role::shared_up, Role::shared_down, experts.each, experts.shared_width,
                     hidden);
    if (experts.shared_gate) list.add({Role::shared_gate, Split::replicated, hidden, 1, false});
  }
}

}  // namespace

Linears linears(const Layer& layer, std::int64_t hidden) {
  Linears list;
  if (!layer.modules.empty()) return list;  // all matrices are modules
  if (layer.attention) add_attention(list, *layer.attention, hidden);
  if (layer.feed_forward) {
    add_feed_forward(list, Role::feed_forward_up, Role::feed_forward_down, *layer.feed_forward,
                     layer.feed_forward->width, hidden);
  }
  if (layer.experts) add_experts(list, *layer.experts, hidden);
  return list;
}

}  // namespace headway
