#include "launch/torchtitan/models.hpp"

#include "base/text.hpp"
#include "launch/document.hpp"
#include "model/reading/load.hpp"
#include "platform/files.hpp"
#include "platform/memo.hpp"

namespace headway::launch {
namespace {

constexpr const char* kFlavors = "launch/torchtitan_flavors.toml";

const std::vector<Flavor>& flavors() {
  static Memo<std::vector<Flavor>> known;
  return known.of("flavors", [] {
    std::vector<Flavor> out;
    const std::string file = kFlavors;
    const auto document = embedded_document(file);
    const Node* rows = document ? document->root.find("flavor") : nullptr;
    if (rows == nullptr || rows->array() == nullptr) return out;
    for (const Node& row : *rows->array()) {
      const auto text = [&](std::string_view key) {
        const Node* node = row.find(key);
        return node == nullptr ? std::string() : scalar_text(*node);
      };
      Flavor flavor{text("name"), text("flavor"), text("model"), nullptr};
      if (const Node* network = row.find("network")) {
        auto described = std::make_shared<Document>();
        described->file = file;
        described->root = *network;
        flavor.network = std::move(described);
      }
      out.push_back(std::move(flavor));
    }
    return out;
  });
}

}  // namespace

std::string other_network(std::string_view name) {
  const auto document = embedded_document(kFlavors);
  const Node* rows = document ? document->root.find("other") : nullptr;
  if (rows == nullptr || rows->array() == nullptr) return {};
  for (const Node& row : *rows->array()) {
    const Node *known = row.find("name"), *does = row.find("does");
    if (known != nullptr && does != nullptr && scalar_text(*known) == name) {
      return scalar_text(*does);
    }
  }
  return {};
}

Result<Model> flavor_model(const Flavor& flavor) {
  return flavor.network == nullptr ? load_model(flavor.model)
                                   : model_from_toml(*flavor.network, flavor.flavor);
}

const Flavor* flavor_of(const Model& model) {
  Model plain = model;
  plain.prediction_layers = 0;
  for (const Flavor& flavor : flavors()) {
    auto known = flavor_model(flavor);
    if (!known) continue;
    known.value().prediction_layers = 0;
    if (same_shape(plain, *known)) return &flavor;
  }
  return nullptr;
}

const Flavor* flavor_named(std::string_view name, std::string_view flavor) {
  const auto find = [&](std::string_view wanted) -> const Flavor* {
    for (const Flavor& known : flavors()) {
      if (known.name == name && known.flavor == wanted) return &known;
    }
    return nullptr;
  };
  const Flavor* exact = find(flavor);
  return exact != nullptr ? exact : find(flavor.substr(0, flavor.find('_')));
}

std::string flavors_text() {
  std::vector<std::string> names;
  for (const Flavor& flavor : flavors()) names.push_back(flavor.name + " " + flavor.flavor);
  return join(names, ", ");
}

GivenField model_field(const Flavor& flavor, const std::string& file, int line) {
  if (flavor.network == nullptr) {
    return {"model", flavor.model, {file, line, FieldName("model.flavor")}};
  }
  return {"model", model_name_of(file), {file, line, FieldName("model.flavor")}, flavor.network};
}

}  // namespace headway::launch
