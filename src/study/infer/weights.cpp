// Formats of weights by name.
#include "study/infer/serving.hpp"

namespace headway {

std::string_view weights_name(const Serving& serving) {
  return serving.stored != nullptr ? serving.stored->name : serving.weights->name;
}

std::string_view sixteen_bits(const Accelerator& accelerator) {
  const bool half = accelerator.peak_of(Precision::bf16) <= FlopsPerSecond(0) &&
                    accelerator.peak_of(Precision::fp16) > FlopsPerSecond(0);
  return half ? "fp16" : "bf16";
}

std::string_view cache_name(const Serving& serving) {
  const std::string& name = serving.cache->name;
  return name == "bf16" ? sixteen_bits(serving.cluster.accelerator) : name;
}

bool set_weights(Serving& serving, std::string_view name) {
  serving.stored = weight_format(name);
  std::string_view recipe = serving.stored != nullptr ? serving.stored->recipe : name;
  if (serving.stored != nullptr && recipe == "bf16") {  // unpacked to what there is
    recipe = sixteen_bits(serving.cluster.accelerator);
  }
  serving.weights = recipe_from(recipe);
  return serving.weights != nullptr;
}

std::vector<std::string> weights_names() {
  std::vector<std::string> out;
  for (const Recipe& recipe : recipes()) out.emplace_back(recipe.name);
  if (weight_formats()) {
    for (const WeightFormat& format : *weight_formats()) out.push_back(format.name);
  }
  return out;
}

}  // namespace headway
