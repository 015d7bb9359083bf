// Formats of weights by name.
#include "study/infer/serving.hpp"

namespace headway {

std::string_view weights_name(const Serving& serving) {
  return serving.stored != nullptr ? serving.stored->name : serving.weights->name;
}

bool set_weights(Serving& serving, std::string_view name) {
  serving.stored = weight_format(name);
  std::string_view recipe = serving.stored != nullptr ? serving.stored->recipe : name;
  // Unpacked to the other 16-bit format where there is no bf16.
  const Accelerator& accelerator = serving.cluster.accelerator;
  const bool wide = accelerator.peak_of(Precision::bf16) <= FlopsPerSecond(0) &&
                    accelerator.peak_of(Precision::fp16) > FlopsPerSecond(0);
  if (serving.stored != nullptr && recipe == "bf16" && wide) recipe = "fp16";
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
