// The networks that torchtitan builds by name and flavor. Internal to src/launch.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "launch/parts.hpp"

namespace headway::launch {

struct Flavor {
  std::string name, flavor;
  std::string model;                        // built-in model of Headway; empty: `network`
  std::shared_ptr<const Document> network;  // in Headway's own form
};

/// The flavor of this shape, its prediction layers apart, which torchtitan builds for no network;
/// nullptr where there is none.
const Flavor* flavor_of(const Model& model);
/// The flavor of these names, whatever kernel of attention its name adds ("8B_flex").
const Flavor* flavor_named(std::string_view name, std::string_view flavor);
/// "llama3 8B, llama3 70B, ...".
std::string flavors_text();

/// What a network does that is built by `name` and is none of a run's ("trains a network of
/// images"); empty: it may be one.
std::string other_network(std::string_view name);

/// The flavor's network, and as the field "model".
Result<Model> flavor_model(const Flavor& flavor);
GivenField model_field(const Flavor& flavor, const std::string& file, int line);

}  // namespace headway::launch
