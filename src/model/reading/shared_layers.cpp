// Layers that share blocks of attention and feed-forward part (Zamba2).
#include "model/reading/config_fields.hpp"
#include "model/reading/config_layers.hpp"

namespace headway::reading {
namespace {

// A layer that shares a block: attention that reads the embedding beside the hidden state, as wide
// as both, a feed-forward part, and the layer's own low-rank matrices beside these and projection
// behind them [MODEL-10]. All matrices are modules of a token; `shares`: with a layer before it.
Layer shared_layer(const FamilyReader& traits, const Model& model, bool shares) {
  const std::int64_t hidden = model.hidden, both = 2 * hidden;
  const std::int64_t heads = traits.number("heads", kMostHeads, 1);
  const std::int64_t kv_heads = traits.number("kv_heads", kMostHeads, 1);
  const std::int64_t rank = traits.number("adapter_rank", kMostHidden, 1);
  const FeedForward part = read_part(traits, "width", "bias");
  if (heads < 1 || kv_heads < 1 || both % heads != 0 || heads % kv_heads != 0) {
    traits.fail("heads", "must divide twice the hidden width, " + std::to_string(both) +
                             ", and be a multiple of those of keys and values");
    return {};
  }
  const std::int64_t head = both / heads, gates = part.gated ? 2 : 1;
  Layer out;
  out.attention.emplace();
  out.attention->heads = heads;
  out.attention->kv_heads = kv_heads;
  out.attention->head_dim = out.attention->value_dim = head;
  const auto once = [&](const ModuleShape& shape) {
    out.modules.push_back({.shape = shape, .shares_weights = shares});
  };
  const auto own = [&](const ModuleShape& shape) { out.modules.push_back({.shape = shape}); };
  const auto adapter = [&](std::int64_t in, std::int64_t width) {
    own(Projection{.in = in, .out = rank, .bias = false});
    own(Projection{.in = rank, .out = width, .bias = false});
  };
  // The hidden state and the embedding are read and written beside each other.
  const double joined = 2 * static_cast<double>(both);
  own(Elementwise{
      .forward = joined, .backward = joined, .fused_forward = joined, .fused_backward = joined});
  once(Normalisation{.over = NormOver::scale, .channels = both, .positions = 1});
  once(Projection{.in = both, .out = (heads + 2 * kv_heads) * head, .bias = false});
  for (int i = 0; i < (traits.flag("attention_adapters") ? 3 : 0); ++i) adapter(both, both);
  once(Projection{.in = both, .out = hidden, .bias = false});
  once(Values{hidden});  // of the norm before the feed-forward part
  once(Projection{.in = hidden, .out = gates * part.width, .bias = part.bias});
  adapter(hidden, gates * part.width);
  // Products added; activated and multiplied by what gates it.
  const auto width = static_cast<double>(part.width);
  const double forward = static_cast<double>(3 * gates + gates + 1) * width;
  const double backward = static_cast<double>(2 * gates + 1) * width;
  own(Elementwise{.forward = forward,
                  .backward = backward,
                  .fused_forward = forward,
                  .fused_backward = backward,
                  .kept = static_cast<double>(gates + 1) * width});
  once(Projection{.in = part.width, .out = hidden, .bias = part.bias});
  own(Projection{.in = hidden, .out = hidden, .bias = false});
  return out;
}

}  // namespace

void read_shared(const FamilyReader& traits, Model& model) {
  const std::int64_t layers = traits.number("layers", kMostLayers, 1);
  const std::vector<std::string> types = types_of_layers(traits, layers);
  if (types.empty()) {
    return traits.fail("layer_types", "must say of each layer whether it shares a block",
                       Trouble::missing);
  }
  const std::int64_t blocks = traits.number("shared_blocks", kMostLayers, 1);
  const std::vector<std::string> with_block = traits.words("full_words");
  const Layer first = shared_layer(traits, model, false), again = shared_layer(traits, model, true);
  Layer mixer;
  mixer.attention = read_linear(traits, model, first.attention.value_or(Attention()));
  mixer.norms = traits.number("norms", 8);
  std::int64_t uses = 0;
  for (const std::string& type : types) {
    if (holds(with_block, type)) add_layer(model, uses++ < blocks ? first : again);
    add_layer(model, mixer);
  }
}

}  // namespace headway::reading
