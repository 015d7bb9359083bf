// The networks that torchtitan builds by name and flavor. Internal to src/launch.
#pragma once

#include <optional>
#include <string_view>

#include "launch/parts.hpp"

namespace headway::launch {

struct Flavor {
  std::string_view name, flavor;
  std::string_view model;  // built-in model of Headway
  bool prediction = true;  // false: without that model's prediction layers
};

/// The flavor of this shape; nullptr where torchtitan has none.
const Flavor* flavor_of(const Model& model);
/// The flavor of these names, whatever kernel of attention its name adds ("8B_flex").
const Flavor* flavor_named(std::string_view name, std::string_view flavor);
/// "llama3 8B, llama3 70B, ...".
std::string flavors_text();

/// The flavor's network as the field "model".
GivenField model_field(const Flavor& flavor, const std::string& file, int line);

}  // namespace headway::launch
