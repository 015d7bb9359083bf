#include "model/reading/config_layers.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
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

}  // namespace

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

namespace {

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

// The layers that a list names.
std::vector<std::size_t> listed(const FamilyReader& traits, std::string_view list,
                                std::size_t layers) {
  std::vector<std::size_t> out;
  for (const std::string& word : traits.words(list)) {
    std::uint64_t layer = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), layer);
    if (error != std::errc() || end != word.data() + word.size()) {
      traits.fail(list, "must be a list of whole numbers", Trouble::malformed);
      return {};
    }
    if (layer < layers) out.push_back(layer);
  }
  return out;
}

enum class Reach : std::uint8_t { full, window, linear };

// For each layer, what its attention reaches.
std::vector<Reach> reaches(const FamilyReader& traits, std::int64_t layers) {
  std::vector<Reach> out(static_cast<std::size_t>(layers), Reach::full);
  const Reach limit = traits.text("linear") != "none" ? Reach::linear : Reach::window;
  const std::vector<std::string> types = types_of_layers(traits, layers);
  if (!types.empty()) {
    const std::vector<std::string> linear = traits.words("linear_words");
    const std::vector<std::string> window = traits.words("window_words");
    std::transform(types.begin(), types.end(), out.begin(), [&](const std::string& type) {
      return holds(linear, type)   ? Reach::linear
             : holds(window, type) ? Reach::window
                                   : Reach::full;
    });
    return out;
  }
  if (limit == Reach::window && traits.number("window", kMostPositions) == 0) return out;
  const std::int64_t from = traits.number("windows_from", kMostPositions);
  const std::int64_t until = traits.number("windows_until", kMostPositions);
  const std::int64_t window_every = traits.number("window_every", kMostPositions, 1);
  const std::int64_t full_every = traits.number("full_every", kMostPositions);
  const std::int64_t at = traits.number("full_at", kMostPositions, -1);
  for (std::int64_t i = from; i < (until > 0 ? std::min(until, layers) : layers); ++i) {
    const bool full = full_every > 0 && i % full_every == (at < 0 ? full_every - 1 : at);
    const bool one = window_every > 0 && (i + 1) % window_every == 0;
    if (one && !full) out[static_cast<std::size_t>(i)] = limit;
  }
  for (const std::size_t layer : listed(traits, "full_layers", out.size())) {
    out[layer] = Reach::full;
  }
  return out;
}

// Sets `value` for the layers that the list names.
void mark(const FamilyReader& traits, std::string_view list, bool value,
          std::vector<bool>& layers) {
  for (const std::size_t layer : listed(traits, list, layers.size())) layers[layer] = value;
}

// For each layer whether it has experts.
std::vector<bool> mixtures(const FamilyReader& traits, std::int64_t layers) {
  std::vector<bool> out(static_cast<std::size_t>(layers), false);
  if (traits.number("experts", kMostExperts) == 0) return out;
  if (!traits.words("expert_layers").empty()) {
    mark(traits, "expert_layers", true, out);
    return out;
  }
  const std::int64_t from = traits.number("experts_from", kMostPositions);
  const std::int64_t last = traits.number("experts_last", kMostPositions, -1);
  const std::int64_t every = traits.number("experts_every", kMostPositions, 1);
  const std::int64_t first = traits.number("experts_count_from", 1);
  const std::int64_t at = traits.number("experts_at", kMostPositions, -1);
  for (std::int64_t i = from; i < (last >= 0 ? std::min(last + 1, layers) : layers); ++i) {
    out[static_cast<std::size_t>(i)] =
        every > 0 && (at < 0 ? (i + first) % every == 0 : i % every == at);
  }
  mark(traits, "dense_layers", false, out);
  return out;
}

// Layers of one part each, a letter for each layer.
void read_lettered(const FamilyReader& traits, const std::string& letters, Model& model) {
  const auto has = [&](char letter) { return letters.find(letter) != std::string::npos; };
  Layer mixer, core, dense, sparse;
  mixer.norms = core.norms = dense.norms = sparse.norms = 1;
  const Attention softmax = read_attention(traits, model);
  core.attention = softmax;
  if (has('M')) mixer.attention = read_linear(traits, model, softmax);
  if (has('-')) dense.feed_forward = read_part(traits, "width", "bias");
  if (has('E')) sparse.experts = read_experts(traits);
  for (const char letter : letters) {
    if (letter == 'M') {
      add_layer(model, mixer);
    } else if (letter == '*') {
      add_layer(model, core);
    } else if (letter == '-') {
      add_layer(model, dense);
    } else if (letter == 'E') {
      add_layer(model, sparse);
    } else {
      return traits.fail("letters", "must be letters M, *, - and E, one for each layer");
    }
  }
}

}  // namespace

std::vector<std::string> types_of_layers(const FamilyReader& traits, std::int64_t layers) {
  std::vector<std::string> types = traits.words("layer_types");
  if (types.empty() || layers == 0) return {};
  if (static_cast<std::int64_t>(types.size()) != layers) {
    traits.fail("layer_types", "has " + std::to_string(types.size()) + " entries for " +
                                   std::to_string(layers) + " layers");
    return {};
  }
  std::vector<std::string> known = traits.words("full_words");
  for (const char* words : {"window_words", "linear_words"}) {
    for (std::string& word : traits.words(words)) known.push_back(std::move(word));
  }
  for (const std::string& type : types) {
    if (holds(known, type)) continue;
    traits.fail("layer_types",
                "'" + printable(type) + "' is not a known type" + suggestion(type, known),
                Trouble::unknown);
    return {};
  }
  return types;
}

void read_layers(const FamilyReader& traits, Model& model) {
  if (traits.flag("shares")) return read_shared(traits, model);
  if (const std::string letters = traits.text("letters"); !letters.empty()) {
    if (letters.size() > static_cast<std::size_t>(kMostLayers)) {
      return traits.fail("letters", "names more than " + std::to_string(kMostLayers) + " layers");
    }
    return read_lettered(traits, letters, model);
  }
  const std::int64_t layers = traits.number("layers", kMostLayers, 1);
  const std::vector<Reach> reach = reaches(traits, layers);
  const std::vector<bool> mixture = mixtures(traits, layers);
  const Attention full = read_attention(traits, model);
  Attention limited = full;
  limited.window = traits.number("window", kMostPositions);
  const bool any_linear = std::find(reach.begin(), reach.end(), Reach::linear) != reach.end();
  const Attention linear = any_linear ? read_linear(traits, model, full) : full;
  Layer dense;
  dense.attention = full;
  dense.norms = traits.number("norms", 8);
  dense.parallel = traits.flag("parallel");
  Layer sparse = dense;
  // Only what some layer has must be stated; without layers, what most would have.
  const bool unknown = mixture.empty();
  const bool experts = unknown && traits.number("experts", kMostExperts) > 0;
  if (experts || std::find(mixture.begin(), mixture.end(), true) != mixture.end()) {
    sparse.experts = read_experts(traits);
  }
  const bool all_sparse = std::find(mixture.begin(), mixture.end(), false) == mixture.end();
  if (traits.flag("feed_forward") && (unknown ? !experts : !all_sparse)) {
    dense.feed_forward = read_part(traits, "width", "bias");
  }
  for (std::size_t i = 0; i < mixture.size(); ++i) {
    Layer& layer = mixture[i] ? sparse : dense;
    layer.attention = reach[i] == Reach::linear   ? linear
                      : reach[i] == Reach::window ? limited
                                                  : full;
    add_layer(model, layer);
  }
}

}  // namespace headway::reading
