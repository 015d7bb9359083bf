// Mixtures of experts with ordinary attention: Mixtral, Qwen-MoE, GPT-OSS, Llama 4.
#include "model/config_fields.hpp"

namespace headway::reading {
namespace {

Experts read_experts(Fields& fields, std::string_view count_key, std::string_view active_key,
                     std::string_view width_key) {
  Experts experts;
  experts.count = bounded(fields, count_key, kMostExperts);
  experts.active = bounded(fields, active_key, kMostExperts);
  experts.each.width = bounded(fields, width_key, kMostWidth);
  experts.each.gated = true;
  experts.each.activation = activation(fields, "hidden_act", Activation::silu);
  check_experts(fields, experts, count_key, active_key);
  return experts;
}

// The layers named in the list `key`, as a mask.
std::vector<bool> mask(Fields& fields, std::string_view key, std::int64_t layers) {
  std::vector<bool> out(static_cast<std::size_t>(layers), false);
  for (const std::int64_t layer : fields.naturals_or_empty(key)) {
    if (layer < layers) out[static_cast<std::size_t>(layer)] = true;
  }
  return out;
}

// Qwen2-MoE and Qwen3-MoE: experts on every decoder_sparse_step-th layer not in mlp_only_layers.
void add_qwen_layers(Fields& fields, Model& model, std::int64_t layers, const Attention& attention,
                     const Experts& experts) {
  Layer sparse;
  sparse.attention = attention;
  sparse.experts = experts;
  const std::int64_t step = bounded_or(fields, "decoder_sparse_step", 1, kMostPositions);
  const std::vector<bool> dense_only = mask(fields, "mlp_only_layers", layers);
  Layer dense;
  dense.attention = attention;
  dense.feed_forward = experts.each;
  bool any_dense = false;
  for (std::int64_t i = 0; i < layers; ++i) {
    any_dense |= dense_only[static_cast<std::size_t>(i)] || (step > 0 && (i + 1) % step != 0);
  }
  if (any_dense) dense.feed_forward->width = bounded(fields, "intermediate_size", kMostWidth);
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool is_dense =
        dense_only[static_cast<std::size_t>(i)] || (step > 0 && (i + 1) % step != 0);
    add_layer(model, is_dense ? dense : sparse);
  }
}

}  // namespace

void read_mixtral(Fields& fields, Model& model) {
  const std::int64_t layers = read_sizes(fields, model, false);
  Layer layer;
  layer.attention = read_attention(fields, model);
  layer.attention->window = natural_up_to(fields, "sliding_window", kMostPositions);
  layer.experts =
      read_experts(fields, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  add_layers(model, layers, layer);
}

void read_qwen2_moe(Fields& fields, Model& model) {
  const std::int64_t layers = read_sizes(fields, model, false);
  Attention attention = read_attention(fields, model);
  attention.qkv_bias = true;
  Experts experts =
      read_experts(fields, "num_experts", "num_experts_per_tok", "moe_intermediate_size");
  experts.shared_width = bounded(fields, "shared_expert_intermediate_size", kMostWidth);
  experts.shared_gate = true;
  add_qwen_layers(fields, model, layers, attention, experts);
}

void read_qwen3_moe(Fields& fields, Model& model) {
  const std::int64_t layers = read_sizes(fields, model, false);
  Attention attention = read_attention(fields, model);
  attention.query_key_norm = true;
  attention.qkv_bias = fields.flag_or("attention_bias", false);
  attention.output_bias = attention.qkv_bias;
  add_qwen_layers(
      fields, model, layers, attention,
      read_experts(fields, "num_experts", "num_experts_per_tok", "moe_intermediate_size"));
}

// GPT-OSS: biases everywhere but in the head, a learned sink for each head, a window on every other
// layer from the first.
void read_gpt_oss(Fields& fields, Model& model) {
  const std::int64_t layers = read_sizes(fields, model, false);
  Layer layer;
  layer.attention = read_attention(fields, model);
  layer.attention->qkv_bias = fields.flag_or("attention_bias", true);
  layer.attention->output_bias = layer.attention->qkv_bias;
  layer.attention->sinks = true;
  layer.experts = read_experts(fields, "num_local_experts",
                               present(fields, {"num_experts_per_tok", "experts_per_token"}),
                               "intermediate_size");
  layer.experts->each.bias = true;
  layer.experts->router_bias = true;
  const std::int64_t window = bounded_or(fields, "sliding_window", 128, kMostPositions);
  const std::vector<bool> limited = limited_layers(fields, layers);
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool limit = limited.empty() ? i % 2 == 0 : limited[static_cast<std::size_t>(i)];
    layer.attention->window = limit ? window : 0;
    add_layer(model, layer);
  }
}

// Llama 4 (the language model of it): experts on every interleave_moe_layer_step-th layer with one
// shared expert of their width; attention within chunks on three layers of four. A chunk is counted
// as a window of its length: the same keys a query at most, twice those of a chunk in the causal
// half.
void read_llama4(Fields& outer, Model& model) {
  const bool nested = outer.has("text_config");
  Fields inner = outer.table("text_config");
  Fields& fields = nested ? inner : outer;
  const std::int64_t layers = read_sizes(fields, model, false);
  Attention attention = read_attention(fields, model);
  attention.qkv_bias = fields.flag_or("attention_bias", false);
  attention.output_bias = attention.qkv_bias;
  Layer sparse;
  sparse.experts =
      read_experts(fields, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  sparse.experts->shared_width = sparse.experts->each.width;
  const std::int64_t step = bounded_or(fields, "interleave_moe_layer_step", 1, kMostPositions);
  Layer dense;
  dense.feed_forward = sparse.experts->each;
  if (step > 1) dense.feed_forward->width = bounded(fields, "intermediate_size_mlp", kMostWidth);
  const std::int64_t chunk = bounded_or(fields, "attention_chunk_size", 8192, kMostPositions);
  const std::vector<bool> limited = limited_layers(fields, layers);
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool limit = limited.empty() ? (i + 1) % 4 != 0 : limited[static_cast<std::size_t>(i)];
    attention.window = limit ? chunk : 0;
    Layer& layer = step > 1 && (i + 1) % step != 0 ? dense : sparse;
    layer.attention = attention;
    add_layer(model, layer);
  }
}

}  // namespace headway::reading
