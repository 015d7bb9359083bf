// Multi-head latent attention with shared and routed experts: DeepSeek-V2 (arXiv 2405.04434) and
// DeepSeek-V3 (arXiv 2412.19437), and models of their form (Moonlight, Kimi K2).
#include "model/config_fields.hpp"

namespace headway::reading {
namespace {

Attention read_latent_attention(Fields& fields) {
  Attention attention;
  attention.heads = bounded(fields, "num_attention_heads", kMostHeads);
  attention.kv_heads = attention.heads;  // the cache holds the latent, each head has its own keys
  LatentProjection latent;
  latent.query_rank = fields.has("q_lora_rank") ? bounded(fields, "q_lora_rank", kMostHidden) : 0;
  latent.key_value_rank = bounded(fields, "kv_lora_rank", kMostHidden);
  latent.rope_dim = bounded(fields, "qk_rope_head_dim", kMostHeadDim);
  attention.head_dim = bounded(fields, "qk_nope_head_dim", kMostHeadDim) + latent.rope_dim;
  attention.value_dim = bounded(fields, "v_head_dim", kMostHeadDim);
  attention.qkv_bias = fields.flag_or("attention_bias", false);
  attention.output_bias = attention.qkv_bias;
  attention.latent = latent;
  return attention;
}

Experts read_latent_experts(Fields& fields) {
  Experts experts;
  experts.count = bounded(fields, "n_routed_experts", kMostExperts);
  experts.active = bounded(fields, "num_experts_per_tok", kMostExperts);
  experts.each.width = bounded(fields, "moe_intermediate_size", kMostWidth);
  experts.each.gated = true;
  experts.each.activation = activation(fields, "hidden_act", Activation::silu);
  experts.shared_width =
      natural_up_to(fields, "n_shared_experts", kMostExperts) * experts.each.width;
  check_experts(fields, experts, "n_routed_experts", "num_experts_per_tok");
  return experts;
}

void read_deepseek(Fields& fields, Model& model, bool router_bias, std::int64_t usual_dense) {
  const std::int64_t layers = read_sizes(fields, model, false);
  Layer dense;
  dense.attention = read_latent_attention(fields);
  Layer sparse = dense;
  const bool mixture = fields.has("n_routed_experts");
  if (mixture) {
    sparse.experts = read_latent_experts(fields);
    sparse.experts->router_bias = router_bias;
  }
  const std::int64_t first_dense = fields.has("first_k_dense_replace")
                                       ? natural_up_to(fields, "first_k_dense_replace", kMostLayers)
                                       : usual_dense;
  const std::int64_t frequency = bounded_or(fields, "moe_layer_freq", 1, kMostLayers);
  const auto is_sparse = [&](std::int64_t layer) {
    return mixture && layer >= first_dense && frequency > 0 && layer % frequency == 0;
  };
  if (!mixture || first_dense > 0 || frequency > 1) {
    FeedForward part;
    part.width = bounded(fields, "intermediate_size", kMostWidth);
    part.gated = true;
    part.activation = activation(fields, "hidden_act", Activation::silu);
    dense.feed_forward = part;
  }
  for (std::int64_t i = 0; i < layers; ++i) add_layer(model, is_sparse(i) ? sparse : dense);
  model.prediction_layers =
      natural_up_to(fields, "num_nextn_predict_layers", kMostPredictionLayers);
}

}  // namespace

void read_deepseek_v2(Fields& fields, Model& model) {
  read_deepseek(fields, model, false, 0);
}

// V3 balances its experts by a bias on the router's scores.
void read_deepseek_v3(Fields& fields, Model& model) {
  read_deepseek(fields, model, true, 3);
}

}  // namespace headway::reading
