// The network as Megatron-LM's arguments.
#include <algorithm>

#include "launch/megatron/megatron.hpp"

namespace headway::launch {
namespace {

void add(Words& words, std::string_view name, std::int64_t value) {
  words.emplace_back(name);
  words.push_back(std::to_string(value));
}

// The first layer with experts and the first without, where the model has them.
const Layer* first(const Model& model, bool experts) {
  for (const std::uint8_t kind : model.pattern) {
    const Layer& layer = model.kinds[kind];
    if (layer.experts.has_value() == experts) return &layer;
  }
  return nullptr;
}

void attention(const Model& model, const Attention& a, Words& words) {
  add(words, "--num-attention-heads", a.heads);
  if (a.latent) {
    words.push_back("--multi-latent-attention");
    words.push_back("--qk-layernorm");  // the norms of the latent ranks
    if (a.latent->query_rank > 0) add(words, "--q-lora-rank", a.latent->query_rank);
    add(words, "--kv-lora-rank", a.latent->key_value_rank);
    add(words, "--qk-head-dim", a.head_dim - a.latent->rope_dim);
    add(words, "--qk-pos-emb-head-dim", a.latent->rope_dim);
    add(words, "--v-head-dim", a.value_dim);
  } else {
    if (a.kv_heads != a.heads) {
      words.push_back("--group-query-attention");
      add(words, "--num-query-groups", a.kv_heads);
    }
    if (a.head_dim * a.heads != model.hidden) add(words, "--kv-channels", a.head_dim);
    if (a.query_key_norm == QueryKeyNorm::head) words.push_back("--qk-layernorm");
  }
  if (a.window > 0) {
    words.push_back("--window-size");
    words.push_back(std::to_string(a.window) + ",0");
  }
  if (a.sinks) words.insert(words.end(), {"--softmax-type", "learnable"});
}

void experts(const Model& model, const Experts& e, bool bf16, Words& words) {
  add(words, "--num-experts", e.count);
  add(words, "--moe-router-topk", e.active);
  add(words, "--moe-ffn-hidden-size", e.each.width);
  if (e.shared_width > 0) add(words, "--moe-shared-expert-intermediate-size", e.shared_width);
  if (bf16) words.push_back("--moe-grouped-gemm");
  if (e.router_bias) {
    words.insert(words.end(),
                 {"--moe-router-score-function", "sigmoid", "--moe-router-enable-expert-bias"});
  }
  // Runs of layers with and without experts: ([0]*3+[1]*58).
  std::string pattern;
  int runs = 0;
  for (std::size_t i = 0; i < model.pattern.size();) {
    const bool sparse = model.kinds[model.pattern[i]].experts.has_value();
    std::size_t end = i;
    while (end < model.pattern.size() &&
           model.kinds[model.pattern[end]].experts.has_value() == sparse) {
      ++end;
    }
    pattern += (runs++ > 0 ? "+[" : "[") + std::string(sparse ? "1" : "0") + "]*" +
               std::to_string(end - i);
    i = end;
  }
  if (runs > 1) words.insert(words.end(), {"--moe-layer-freq", "(" + pattern + ")"});
}

}  // namespace

Words megatron_model_words(const Run& run, Refusals& refusals) {
  const Model& model = run.model;
  const char* const field = "model";
  const Layer* dense = first(model, false);
  const Layer* sparse = first(model, true);
  const Layer& layer = dense != nullptr ? *dense : *sparse;
  refusals.refuse(!layer.attention.has_value(), field, "a network without attention");
  refusals.refuse(model.vocabulary == 0, field, "a network without embedding and head");
  const bool parts = std::all_of(model.kinds.begin(), model.kinds.end(), [](const Layer& kind) {
    return kind.attention && (kind.feed_forward || kind.experts);
  });
  refusals.refuse(layer.attention && !parts, field,
                  "a network with layers of attention or of a feed-forward part alone");
  if (!parts || model.vocabulary == 0) return {};
  const Attention& a = *layer.attention;
  const FeedForward& part = dense != nullptr ? *dense->feed_forward : sparse->experts->each;

  // One kind of attention and of activation for all layers.
  bool uniform = true;
  for (const Layer& kind : model.kinds) {
    const FeedForward& one = kind.experts ? kind.experts->each : *kind.feed_forward;
    FeedForward same = one;
    same.width = part.width;
    uniform = uniform && kind.attention == layer.attention && same == part &&
              kind.norms == layer.norms && kind.parallel == layer.parallel &&
              (!kind.experts || kind.experts == sparse->experts) &&
              (kind.experts || kind.feed_forward == dense->feed_forward);
  }
  refusals.refuse(!uniform, field, "a network whose layers differ in more than their experts");
  refusals.refuse(layer.parallel, field, "attention beside the feed-forward part");
  refusals.refuse(layer.norms != 2, field, "a layer of " + std::to_string(layer.norms) + " norms");
  refusals.refuse(model.norm == NormKind::layer_norm && !model.norm_bias, field,
                  "layer norms without a bias");
  refusals.refuse(!model.norm_weight, field, "norms without weights");
  refusals.refuse(model.labels.has_value(), field, "another head than the vocabulary's");
  refusals.refuse(a.linear.has_value(), field, "linear attention");
  refusals.refuse(a.gated, field, "a gate of the result of attention");
  refusals.refuse(a.query_key_norm == QueryKeyNorm::all_heads, field,
                  "norms of queries and keys over all heads");
  refusals.refuse(model.embedding_norm, field, "a norm behind the embedding");
  refusals.refuse(!model.final_norm, field, "a network without a norm before the head");
  refusals.refuse(model.head_bias, field, "a bias of the head");
  refusals.refuse(model.embedding_width > 0, field, "an embedding narrower than the layers");
  refusals.refuse(a.output_bias != part.bias || (part.bias && !a.qkv_bias), field,
                  "biases on some matrices only, but for queries, keys and values");
  refusals.refuse(part.gated && part.activation != Activation::silu, field,
                  "a gate with another activation than SiLU");
  refusals.refuse(!part.gated && part.activation != Activation::gelu &&
                      part.activation != Activation::squared_relu,
                  field, "a feed-forward part with ReLU or SiLU and no gate");
  refusals.refuse(sparse != nullptr && sparse->experts->shared_gate, field,
                  "a gate of the shared expert");
  refusals.refuse(model.learned_positions > 0 && model.learned_positions < run.job.sequence, "seq",
                  "a sequence longer than the table of positions");

  Words words;
  add(words, "--num-layers", model.layers());
  add(words, "--hidden-size", model.hidden);
  if (dense != nullptr) add(words, "--ffn-hidden-size", part.width);
  attention(model, a, words);
  const std::int64_t positions = model.learned_positions > 0
                                     ? model.learned_positions
                                     : std::max(model.maximum_sequence, run.job.sequence);
  add(words, "--max-position-embeddings", positions);
  words.insert(words.end(), {"--position-embedding-type",
                             model.learned_positions > 0 ? "learned_absolute" : "rope"});
  words.insert(words.end(),
               {"--normalization", model.norm == NormKind::rms_norm ? "RMSNorm" : "LayerNorm"});
  if (part.gated) words.push_back("--swiglu");
  if (part.activation == Activation::squared_relu) words.push_back("--squared-relu");
  if (!part.bias) words.push_back("--disable-bias-linear");
  if (!part.bias && a.qkv_bias) words.push_back("--add-qkv-bias");
  if (!model.tied_embeddings) words.push_back("--untie-embeddings-and-output-weights");
  if (model.prediction_layers > 0) add(words, "--mtp-num-layers", model.prediction_layers);
  if (sparse != nullptr) {
    experts(model, *sparse->experts, run.job.recipe->activation == Precision::bf16, words);
  }
  return words;
}

}  // namespace headway::launch
