// Headway's own .toml form of a model, for shapes that have no config.json (docs/models/model.md).
#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "model/reading/config_fields.hpp"
#include "model/reading/load.hpp"
#include "model/reading/network_form.hpp"

namespace headway {
using namespace reading;  // of this folder alone
namespace {

void read_norms(Fields& fields, Model& model) {
  const std::string norm = fields.text_or("norm", "layer");
  if (norm == "rms") {
    model.norm = NormKind::rms_norm;
  } else {
    model.norm = NormKind::layer_norm;
    if (norm != "layer") {
      fields.fail("norm", "is '" + printable(norm) + "'; must be 'layer' or 'rms'");
    }
  }
  model.norm_bias = fields.flag_or("norm_bias", true);
  model.embedding_norm = fields.flag_or("embedding_norm", false);
  model.final_norm = fields.flag_or("final_norm", true);
}

// The table of latent attention: head_dim and value_dim of the table above count both the part of a
// head that carries positions and the one that does not.
void read_own_latent(Fields& fields, const Model& model, Attention& attention) {
  Fields table = fields.table("latent");
  LatentProjection latent;
  latent.query_rank = natural_up_to(table, "query_rank", kMostHidden);
  latent.key_value_rank = bounded(table, "key_value_rank", kMostHidden);
  latent.rope_dim = bounded(table, "rope_dim", kMostHeadDim);
  attention.value_dim = bounded(table, "value_dim", kMostHeadDim);
  table.reject_unknown();
  attention.kv_heads = attention.heads;
  if (!fields.has("head_dim")) {
    attention.head_dim = attention.heads > 0 ? model.hidden / attention.heads : 0;
  }
  if (attention.head_dim <= latent.rope_dim) {
    table.fail("rope_dim", "must be less than head_dim, " + std::to_string(attention.head_dim));
  }
  attention.latent = latent;
}

// Absent `heads`: a stack without attention.
std::optional<Attention> read_own_attention(Fields& fields, const Model& model, bool bias) {
  Attention attention;
  const bool any = fields.has("heads");
  attention.heads = bounded_or(fields, "heads", 1, kMostHeads);
  attention.kv_heads = bounded_or(fields, "kv_heads", attention.heads, kMostHeads);
  attention.window = natural_up_to(fields, "window", kMostPositions);
  attention.qkv_bias = fields.flag_or("qkv_bias", bias);
  attention.output_bias = bias;
  attention.query_key_norm =
      fields.flag_or("query_key_norm", false) ? QueryKeyNorm::head : QueryKeyNorm::none;
  attention.sinks = fields.flag_or("sinks", false);
  attention.head_dim = bounded_or(fields, "head_dim", 0, kMostHeadDim);
  if (any && fields.has("latent")) {
    read_own_latent(fields, model, attention);
    return attention;
  }
  if (any) {
    settle_heads(fields, model, attention, "heads", "kv_heads");
    return attention;
  }
  for (const char* key :
       {"kv_heads", "window", "qkv_bias", "query_key_norm", "head_dim", "sinks", "latent"}) {
    if (fields.has(key)) fields.fail(key, "needs 'heads', which is missing");
  }
  return std::nullopt;
}

void read_own_experts(Fields& fields, Model& model, std::int64_t layers, Layer dense) {
  Fields table = fields.table("experts");
  Layer sparse = dense;
  sparse.feed_forward.reset();
  Experts experts;
  experts.each = *dense.feed_forward;
  experts.count = bounded(table, "count", kMostExperts);
  experts.active = bounded(table, "active", kMostExperts);
  experts.each.width = bounded_or(table, "width", experts.each.width, kMostWidth);
  experts.shared_width = natural_up_to(table, "shared_width", kMostWidth);
  experts.shared_gate = table.flag_or("shared_gate", false);
  experts.router_bias = table.flag_or("router_bias", false);
  check_experts(table, experts, "count", "active");
  const std::int64_t first_dense = natural_up_to(table, "first_dense", kMostLayers);
  const std::int64_t every = bounded_or(table, "every", 1, kMostLayers);
  const std::vector<std::int64_t> pattern = table.naturals_or_empty("pattern");
  if (table.has("pattern")) {
    for (const char* key : {"first_dense", "every"}) {
      if (table.has(key)) table.fail(key, "stands beside 'pattern', which states every layer");
    }
    const bool legal = std::all_of(pattern.begin(), pattern.end(),
                                   [](std::int64_t one) { return one == 0 || one == 1; });
    if (!legal || static_cast<std::int64_t>(pattern.size()) != layers) {
      table.fail("pattern", "must hold 1 (experts) or 0 (dense) for each of the " +
                                std::to_string(layers) + " layers");
      return;
    }
  }
  table.reject_unknown();
  sparse.experts = experts;
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool is_sparse = pattern.empty() ? i >= first_dense && every > 0 && (i + 1) % every == 0
                                           : pattern[static_cast<std::size_t>(i)] == 1;
    add_layer(model, is_sparse ? sparse : dense);
  }
}

}  // namespace

Result<Model> model_from_toml(const Document& document, std::string name) {
  if (is_network_form(document)) return network_from_toml(document, std::move(name));
  Problems problems;
  Fields fields(document, problems);
  Model model;
  model.name = std::move(name);
  model.source = fields.text_or("source", document.file);
  fields.text_or("note", "");
  model.hidden = bounded(fields, "hidden", kMostHidden);
  model.vocabulary = natural_up_to(fields, "vocabulary", kMostVocabulary);
  if (!fields.has("vocabulary")) {
    fields.fail("vocabulary", "is missing; 0 stands for a model without embedding and head",
                Trouble::missing);
  }
  const std::int64_t layers = bounded(fields, "layers", kMostLayers);
  model.tied_embeddings = fields.flag_or("tied", false);
  model.learned_positions = natural_up_to(fields, "learned_positions", kMostLearnedPositions);
  model.maximum_sequence = natural_up_to(fields, "sequence", kMostPositions);
  model.dropout = dropout(fields, "dropout");
  model.prediction_layers = natural_up_to(fields, "prediction_layers", kMostPredictionLayers);
  model.before_flash_attention = fields.flag_or("before_flash_attention", false);
  read_norms(fields, model);

  Layer layer;
  const bool bias = fields.flag_or("bias", false);
  layer.attention = read_own_attention(fields, model, bias);
  layer.parallel = fields.flag_or("parallel", false);
  layer.norms = natural_up_to(fields, "norms", 8);
  if (!fields.has("norms")) layer.norms = 2;
  FeedForward part;
  part.width = bounded_or(fields, "feed_forward", 4 * model.hidden, kMostWidth);
  part.gated = fields.flag_or("gated", false);
  part.bias = bias;
  part.activation = activation(fields, "activation", Activation::gelu);
  layer.feed_forward = part;
  if (fields.has("experts")) {
    read_own_experts(fields, model, layers, layer);
  } else {
    add_layers(model, layers, layer);
  }
  fields.reject_unknown();
  if (!problems.empty()) return problems;
  if (approximate_parameters(model) > kMostParameters) return implausible(fields);
  return model;
}

}  // namespace headway
