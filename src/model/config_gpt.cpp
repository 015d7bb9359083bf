// Models in the form of GPT: layer norms, no gate: GPT-2, GPT-NeoX, OPT, BLOOM, Falcon, MPT.
#include "model/config_fields.hpp"

namespace headway::reading {
namespace {

Attention with_bias(Attention attention, bool bias) {
  attention.qkv_bias = bias;
  attention.output_bias = bias;
  return attention;
}

// Attention whose head width follows from the hidden width.
Attention plain_attention(Fields& fields, const Model& model, std::string_view heads_key) {
  Attention attention;
  attention.heads = bounded(fields, heads_key, kMostHeads);
  attention.kv_heads = attention.heads;
  settle_heads(fields, model, attention, heads_key, heads_key);
  return attention;
}

FeedForward plain_part(std::int64_t width, Activation kind, bool bias) {
  FeedForward part;
  part.width = width;
  part.bias = bias;
  part.activation = kind;
  return part;
}

}  // namespace

void read_gpt2(Fields& fields, Model& model) {
  const std::int64_t layers =
      read_sizes(fields, model, true,
                 {"n_embd", "n_layer", "vocab_size",
                  present(fields, {"n_positions", "n_ctx", "max_position_embeddings"})});
  model.before_flash_attention = true;
  model.norm = NormKind::layer_norm;
  model.learned_positions =
      bounded(fields, present(fields, {"n_positions", "n_ctx", "max_position_embeddings"}),
              kMostLearnedPositions);
  model.dropout = fields.has("resid_pdrop") ? dropout(fields, {"resid_pdrop"}) : 0.1;
  Layer layer;
  layer.attention = with_bias(plain_attention(fields, model, "n_head"), true);
  layer.feed_forward =
      plain_part(bounded_or(fields, "n_inner", 4 * model.hidden, kMostWidth),
                 activation(fields, "activation_function", Activation::gelu), true);
  add_layers(model, layers, layer);
}

void read_gpt_neox(Fields& fields, Model& model) {
  const std::int64_t layers = read_sizes(fields, model, false);
  model.norm = NormKind::layer_norm;
  model.dropout = dropout(fields, {"hidden_dropout"});
  Layer layer;
  layer.attention = with_bias(plain_attention(fields, model, "num_attention_heads"),
                              fields.flag_or("attention_bias", true));
  layer.feed_forward = plain_part(bounded(fields, "intermediate_size", kMostWidth),
                                  activation(fields, "hidden_act", Activation::gelu), true);
  layer.parallel = fields.flag_or("use_parallel_residual", true);
  add_layers(model, layers, layer);
}

// OPT: the position table has two rows more than positions; the embedding may be narrower than the
// layers (350M), which also has its norms after the parts and none at the end.
void read_opt(Fields& fields, Model& model) {
  const std::int64_t layers = read_sizes(fields, model, true);
  model.before_flash_attention = true;
  model.norm = NormKind::layer_norm;
  if (bounded(fields, "max_position_embeddings", kMostLearnedPositions) > 0) {
    model.learned_positions = model.maximum_sequence + 2;
  }
  model.embedding_width = bounded_or(fields, "word_embed_proj_dim", model.hidden, kMostHidden);
  if (model.embedding_width == model.hidden) model.embedding_width = 0;
  model.final_norm = fields.flag_or("do_layer_norm_before", true) &&
                     !fields.flag_or("_remove_final_layer_norm", false);
  model.dropout = fields.has("dropout") ? dropout(fields, {"dropout"}) : 0.1;
  if (!fields.flag_or("layer_norm_elementwise_affine", true)) {
    fields.fail("layer_norm_elementwise_affine", "false is not supported; must be true");
  }
  const bool bias = fields.flag_or("enable_bias", true);
  Layer layer;
  layer.attention = with_bias(plain_attention(fields, model, "num_attention_heads"), bias);
  layer.feed_forward =
      plain_part(bounded(fields, "ffn_dim", kMostWidth),
                 activation(fields, "activation_function", Activation::relu), bias);
  add_layers(model, layers, layer);
}

void read_bloom(Fields& fields, Model& model) {
  const std::int64_t layers =
      read_sizes(fields, model, true,
                 {present(fields, {"hidden_size", "n_embed"}),
                  present(fields, {"n_layer", "num_hidden_layers"}), "vocab_size", "seq_length"});
  model.before_flash_attention = true;
  model.norm = NormKind::layer_norm;
  model.embedding_norm = true;
  model.dropout = dropout(fields, {"hidden_dropout"});
  Layer layer;
  layer.attention = with_bias(
      plain_attention(fields, model, present(fields, {"n_head", "num_attention_heads"})), true);
  layer.feed_forward = plain_part(4 * model.hidden, Activation::gelu, true);
  add_layers(model, layers, layer);
}

// Falcon: 7B shares one norm and one key-value head; the new form has grouped key-value heads and
// a norm for each part.
void read_falcon(Fields& fields, Model& model) {
  const std::int64_t layers =
      read_sizes(fields, model, true,
                 {"hidden_size", present(fields, {"num_hidden_layers", "n_layer"}), "vocab_size",
                  "max_position_embeddings"});
  model.norm = NormKind::layer_norm;
  model.dropout = dropout(fields, {"hidden_dropout"});
  const bool bias = fields.flag_or("bias", false);
  const bool grouped = fields.flag_or("new_decoder_architecture", false);
  const bool multi_query = fields.flag_or("multi_query", true);
  const std::string_view heads_key = present(fields, {"num_attention_heads", "n_head"});
  const std::string_view groups_key = present(fields, {"num_kv_heads", "n_head_kv"});

  Layer layer;
  Attention attention;
  attention.heads = bounded(fields, heads_key, kMostHeads);
  const std::int64_t groups = bounded_or(fields, groups_key, attention.heads, kMostHeads);
  attention.kv_heads = grouped ? groups : multi_query ? 1 : attention.heads;
  settle_heads(fields, model, attention, heads_key, groups_key);
  layer.attention = with_bias(attention, bias);
  layer.parallel = grouped || fields.flag_or("parallel_attn", true);
  layer.norms = 2;
  if (layer.parallel) {
    layer.norms = bounded_or(fields, "num_ln_in_parallel_attn", grouped ? 2 : 1, 2);
  }
  layer.feed_forward =
      plain_part(bounded_or(fields, "ffn_hidden_size", 4 * model.hidden, kMostWidth),
                 activation(fields, "activation", Activation::gelu), bias);
  add_layers(model, layers, layer);
}

// MPT: with no_bias neither matrices nor norms have one; positions by ALiBi, or a learned table.
void read_mpt(Fields& fields, Model& model) {
  const std::int64_t layers =
      read_sizes(fields, model, true, {"d_model", "n_layers", "vocab_size", "max_seq_len"});
  const bool bias = !fields.flag_or("no_bias", true);
  model.norm = NormKind::layer_norm;
  model.norm_bias = bias;
  model.dropout = dropout(fields, {"resid_pdrop"});
  Fields details = fields.table("attn_config");
  const bool by_distance = details.flag_or("alibi", true) || details.flag_or("rope", false);
  if (!by_distance && fields.flag_or("learned_pos_emb", true)) {
    model.learned_positions = bounded(fields, "max_seq_len", kMostLearnedPositions);
  }
  Attention attention;
  attention.heads = bounded(fields, "n_heads", kMostHeads);
  const std::string type = details.text_or("attn_type", "multihead_attention");
  attention.kv_heads = type == "multiquery_attention"
                           ? 1
                           : bounded_or(details, "kv_n_heads", attention.heads, kMostHeads);
  settle_heads(fields, model, attention, "n_heads", "attn_config");
  Layer layer;
  layer.attention = with_bias(attention, bias);
  const std::int64_t ratio = bounded_or(fields, "expansion_ratio", 4, 100);
  layer.feed_forward = plain_part(ratio * model.hidden, Activation::gelu, bias);
  add_layers(model, layers, layer);
}

}  // namespace headway::reading
