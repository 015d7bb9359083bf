// Dense models with rotary positions: Llama, Mistral, Qwen, Gemma, Phi-3, StarCoder2, Nemotron.
#include "model/config_fields.hpp"

namespace headway::reading {
namespace {

FeedForward gated_part(Fields& fields, Activation usual = Activation::silu) {
  FeedForward part;
  part.width = bounded(fields, "intermediate_size", kMostWidth);
  part.gated = true;
  part.activation = activation(fields, "hidden_act", usual);
  return part;
}

}  // namespace

void read_llama(Fields& fields, Model& model) {
  const std::int64_t layers = read_sizes(fields, model, false);
  Layer layer;
  layer.attention = read_attention(fields, model);
  layer.attention->qkv_bias = fields.flag_or("attention_bias", false);
  layer.attention->output_bias = layer.attention->qkv_bias;
  layer.feed_forward = gated_part(fields);
  layer.feed_forward->bias = fields.flag_or("mlp_bias", false);
  add_layers(model, layers, layer);
}

void read_mistral(Fields& fields, Model& model) {
  const std::int64_t layers = read_sizes(fields, model, false);
  Layer layer;
  layer.attention = read_attention(fields, model);
  layer.attention->window = natural_up_to(fields, "sliding_window", kMostPositions);
  layer.feed_forward = gated_part(fields);
  add_layers(model, layers, layer);
}

// Qwen2, Qwen2.5 and Qwen3: a window only with use_sliding_window, from max_window_layers on.
static void read_qwen(Fields& fields, Model& model, Attention attention, std::int64_t layers) {
  Layer layer;
  layer.feed_forward = gated_part(fields);
  const bool use_window = fields.flag_or("use_sliding_window", false);
  const std::int64_t window = natural_up_to(fields, "sliding_window", kMostPositions);
  const std::int64_t first = natural_up_to(fields, "max_window_layers", kMostPositions);
  for (std::int64_t i = 0; i < layers; ++i) {
    attention.window = use_window && i >= first ? window : 0;
    layer.attention = attention;
    add_layer(model, layer);
  }
}

void read_qwen2(Fields& fields, Model& model) {
  const std::int64_t layers = read_sizes(fields, model, false);
  Attention attention = read_attention(fields, model);
  attention.qkv_bias = true;
  read_qwen(fields, model, attention, layers);
}

void read_qwen3(Fields& fields, Model& model) {
  const std::int64_t layers = read_sizes(fields, model, false);
  Attention attention = read_attention(fields, model);
  attention.query_key_norm = true;
  attention.qkv_bias = fields.flag_or("attention_bias", false);
  attention.output_bias = attention.qkv_bias;
  read_qwen(fields, model, attention, layers);
}

static Layer gemma_layer(Fields& fields, const Model& model) {
  Layer layer;
  layer.attention = read_attention(fields, model);
  layer.attention->qkv_bias = fields.flag_or("attention_bias", false);
  layer.attention->output_bias = layer.attention->qkv_bias;
  layer.feed_forward = gated_part(fields, Activation::gelu);
  layer.feed_forward->activation = activation(fields, "hidden_activation", Activation::gelu);
  return layer;
}

void read_gemma(Fields& fields, Model& model) {
  const std::int64_t layers = read_sizes(fields, model, true);
  add_layers(model, layers, gemma_layer(fields, model));
}

// Gemma 2: norms before and after both parts, and a window on every other layer from the first.
void read_gemma2(Fields& fields, Model& model) {
  const std::int64_t layers = read_sizes(fields, model, true);
  const std::int64_t window = bounded_or(fields, "sliding_window", 4096, kMostPositions);
  Layer layer = gemma_layer(fields, model);
  layer.norms = 4;
  const std::vector<bool> limited = limited_layers(fields, layers);
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool limit = limited.empty() ? i % 2 == 0 : limited[static_cast<std::size_t>(i)];
    layer.attention->window = limit ? window : 0;
    add_layer(model, layer);
  }
}

void read_phi3(Fields& fields, Model& model) {
  const std::int64_t layers = read_sizes(fields, model, false);
  Layer layer;
  layer.attention = read_attention(fields, model);
  layer.attention->window = natural_up_to(fields, "sliding_window", kMostPositions);
  layer.feed_forward = gated_part(fields);
  model.dropout = dropout(fields, {"resid_pdrop"});
  add_layers(model, layers, layer);
}

void read_starcoder2(Fields& fields, Model& model) {
  const std::int64_t layers = read_sizes(fields, model, true);
  model.norm = NormKind::layer_norm;
  model.dropout = dropout(fields, {"residual_dropout"});
  const bool bias = fields.flag_or("use_bias", true);
  Layer layer;
  layer.attention = read_attention(fields, model);
  layer.attention->qkv_bias = bias;
  layer.attention->output_bias = bias;
  layer.attention->window = natural_up_to(fields, "sliding_window", kMostPositions);
  layer.feed_forward = gated_part(fields, Activation::gelu);
  layer.feed_forward->gated = false;
  layer.feed_forward->bias = bias;
  add_layers(model, layers, layer);
}

// Nemotron: layer norms, a squared ReLU without gate.
void read_nemotron(Fields& fields, Model& model) {
  const std::int64_t layers = read_sizes(fields, model, false);
  model.norm = NormKind::layer_norm;
  Layer layer;
  layer.attention = read_attention(fields, model);
  layer.attention->qkv_bias = fields.flag_or("attention_bias", false);
  layer.attention->output_bias = layer.attention->qkv_bias;
  layer.feed_forward = gated_part(fields, Activation::squared_relu);
  layer.feed_forward->gated = false;
  layer.feed_forward->bias = fields.flag_or("mlp_bias", false);
  add_layers(model, layers, layer);
}

}  // namespace headway::reading
