#include "model/reading/config_parts.hpp"

#include "model/reading/config_fields.hpp"

namespace headway::reading {
namespace {

LatentProjection read_latent(const FamilyReader& traits, Attention& attention) {
  LatentProjection latent;
  latent.query_rank = traits.number("query_rank", kMostHidden);
  latent.key_value_rank = traits.number("key_value_rank", kMostHidden, 1);
  latent.rope_dim = traits.number("rope_dim", kMostHeadDim, 1);
  attention.kv_heads = attention.heads;  // the cache holds the latent, each head has its own keys
  attention.head_dim = traits.number("plain_dim", kMostHeadDim, 1) + latent.rope_dim;
  attention.value_dim = traits.number("value_dim", kMostHeadDim, 1);
  return latent;
}

std::optional<KeyIndexer> read_indexer(const FamilyReader& traits) {
  KeyIndexer indexer;
  indexer.keep = traits.number("indexer_keep", kMostPositions);
  if (indexer.keep == 0) return std::nullopt;
  indexer.heads = traits.number("indexer_heads", kMostHeads, 1);
  indexer.head_dim = traits.number("indexer_dim", kMostHeadDim, 1);
  if (traits.number("indexer_every", kMostPositions, 1) != 1) {
    traits.fail("indexer_every",
                "has layers that share what one of them chose, of which there is no model",
                Trouble::unsupported);
  }
  return indexer;
}

LinearForm linear_form(const std::string& name) {
  if (name == "delta rule") return LinearForm::delta_rule;
  if (name == "dual") return LinearForm::dual;
  return name == "selective" ? LinearForm::selective : LinearForm::decay;
}

// Of the selective form each value is a head of its own, and all share keys and queries.
void read_selective(const FamilyReader& traits, const Model& model, Attention& attention) {
  LinearAttention& linear = *attention.linear;
  attention.heads = traits.number("linear_inner", kMostWidth, 1);
  attention.kv_heads = attention.value_dim = 1;
  linear.norms_inside = traits.flag("norms_inside");
  linear.rate_rank = traits.number("rate_rank", kMostHidden);
  if (linear.rate_rank == 0) linear.rate_rank = (model.hidden + 15) / 16;  // arXiv 2312.00752 §3.6
}

// Beside `softmax`, the attention of the other layers.

}  // namespace

Attention read_attention(const FamilyReader& traits, const Model& model) {
  Attention attention;
  attention.heads = traits.number("heads", kMostHeads, 1);
  attention.qkv_bias = traits.flag("qkv_bias");
  attention.output_bias = traits.flag("output_bias");
  const std::string norm = traits.text("query_key_norm");
  if (norm == "head") attention.query_key_norm = QueryKeyNorm::head;
  if (norm == "all heads") attention.query_key_norm = QueryKeyNorm::all_heads;
  attention.sinks = traits.flag("sinks");
  attention.gated = traits.flag("attention_gate");
  if (traits.text("attention") == "latent") {
    attention.latent = read_latent(traits, attention);
    attention.indexer = read_indexer(traits);
    return attention;
  }
  attention.kv_heads = traits.number("kv_heads", kMostHeads, 1);
  attention.head_dim = traits.number("head_dim", kMostHeadDim);
  settle_heads(traits.config(), model, attention, traits.key("heads"), traits.key("kv_heads"));
  return attention;
}

Attention read_linear(const FamilyReader& traits, const Model& model, const Attention& softmax) {
  Attention attention;
  attention.linear = LinearAttention{.form = linear_form(traits.text("linear")),
                                     .convolution = traits.number("convolution", kMostTaps),
                                     .convolution_bias = traits.flag("convolution_bias")};
  attention.qkv_bias = attention.output_bias = traits.flag("linear_bias");
  attention.head_dim = traits.number("linear_key_dim", kMostHeadDim);
  if (attention.head_dim == 0) attention.head_dim = softmax.head_dim;
  if (attention.linear->form == LinearForm::selective) {
    read_selective(traits, model, attention);
    return attention;
  }
  attention.heads = traits.number("linear_heads", kMostHeads, 1);
  attention.kv_heads = traits.number("linear_key_heads", kMostHeads, 1);
  if (attention.kv_heads > 0 && attention.heads % attention.kv_heads != 0) {
    traits.fail("linear_key_heads", "is " + std::to_string(attention.kv_heads) +
                                        ", which does not divide the " +
                                        std::to_string(attention.heads) + " heads of values");
  }
  attention.value_dim = traits.number("linear_value_dim", kMostHeadDim);
  const bool dual = attention.linear->form == LinearForm::dual;
  if (attention.value_dim == 0 && dual && attention.heads > 0) {
    attention.value_dim = traits.number("linear_inner", kMostWidth, 1) / attention.heads;
  }
  if (attention.value_dim == 0) attention.value_dim = softmax.head_dim;
  return attention;
}

FeedForward read_part(const FamilyReader& traits, std::string_view width, std::string_view bias) {
  FeedForward part;
  part.width = traits.number(width, kMostWidth, 1);
  part.gated = traits.flag("gated");
  part.bias = traits.flag(bias);
  part.activation = traits.activation("activation");
  return part;
}

Experts read_experts(const FamilyReader& traits) {
  Experts experts;
  experts.count = traits.number("experts", kMostExperts, 1);
  experts.active = traits.number("active", kMostExperts, 1);
  experts.each = read_part(traits, "expert_width", "expert_bias");
  experts.shared_width = traits.number("shared_width", kMostWidth);
  if (experts.shared_width == 0) {
    experts.shared_width = traits.number("shared_experts", kMostExperts) * experts.each.width;
  }
  experts.shared_gate = traits.flag("shared_gate");
  experts.router_bias = traits.flag("router_bias");
  check_experts(traits.config(), experts, traits.key("experts"), traits.key("active"));
  return experts;
}

}  // namespace headway::reading
