#include "launch/torchtitan/models.hpp"

#include "base/text.hpp"
#include "model/load.hpp"

namespace headway::launch {
namespace {

// torchtitan 0.2.2, torchtitan/models/*/__init__.py. Its DeepSeek-V3 has no prediction module.
constexpr Flavor kFlavors[] = {{"llama3", "8B", "llama-3.1-8b"},
                               {"llama3", "70B", "llama-3.1-70b"},
                               {"llama3", "405B", "llama-3.1-405b"},
                               {"llama4", "17bx16e", "llama-4-scout"},
                               {"llama4", "17bx128e", "llama-4-maverick"},
                               {"deepseek_v3", "16B", "deepseek-v2-lite"},
                               {"deepseek_v3", "671B", "deepseek-v3", false},
                               {"qwen3", "8B", "qwen3-8b"},
                               {"qwen3", "14B", "qwen3-14b"},
                               {"qwen3", "32B", "qwen3-32b"},
                               {"qwen3", "30B-A3B", "qwen3-30b-a3b"},
                               {"qwen3", "235B-A22B", "qwen3-235b-a22b"}};

// DeepSeek-V3 (arXiv 2412.19437 section 4.2) without its prediction module.
GivenField deepseek_without_prediction(const std::string& file, int line) {
  ModelDocument out;
  const auto set = [&](std::string_view key, auto value) { out.set(key, value, line); };
  set("layers", std::int64_t{61});
  set("hidden", std::int64_t{7168});
  set("heads", std::int64_t{128});
  set("head_dim", std::int64_t{192});
  set("feed_forward", std::int64_t{18432});
  set("gated", true);
  set("activation", std::string("silu"));
  set("norm", std::string("rms"));
  set("vocabulary", std::int64_t{129280});
  set("sequence", std::int64_t{163840});
  const auto latent = [&](std::string_view key, std::int64_t value) {
    out.set("latent", key, value, line);
  };
  latent("query_rank", 1536);
  latent("key_value_rank", 512);
  latent("rope_dim", 64);
  latent("value_dim", 128);
  const auto experts = [&](std::string_view key, std::int64_t value) {
    out.set("experts", key, value, line);
  };
  experts("count", 256);
  experts("active", 8);
  experts("width", 2048);
  experts("shared_width", 2048);
  experts("first_dense", 3);
  out.set("experts", "router_bias", true, line);
  return std::move(out).field(file, line);
}

}  // namespace

const Flavor* flavor_of(const Model& model) {
  for (const Flavor& flavor : kFlavors) {
    auto known = load_model(std::string(flavor.model));
    if (!known) continue;
    if (!flavor.prediction) known.value().prediction_layers = 0;
    if (same_shape(model, *known)) return &flavor;
  }
  return nullptr;
}

const Flavor* flavor_named(std::string_view name, std::string_view flavor) {
  const std::string_view plain = flavor.substr(0, flavor.find('_'));
  for (const Flavor& known : kFlavors) {
    if (known.name == name && known.flavor == plain) return &known;
  }
  return nullptr;
}

std::string flavors_text() {
  std::vector<std::string> names;
  for (const Flavor& flavor : kFlavors) {
    names.push_back(std::string(flavor.name) + " " + std::string(flavor.flavor));
  }
  return join(names, ", ");
}

GivenField model_field(const Flavor& flavor, const std::string& file, int line) {
  if (!flavor.prediction) return deepseek_without_prediction(file, line);
  return {"model", std::string(flavor.model), {file, line, FieldName("model.flavor")}};
}

}  // namespace headway::launch
