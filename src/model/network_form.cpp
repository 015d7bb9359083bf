#include "model/network_form.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "model/config_fields.hpp"
#include "model/module_reader.hpp"

namespace headway::reading {
namespace {

constexpr std::int64_t kMostOfABlock = 1'000;
constexpr std::size_t kMostBlocksOfNetwork = 100;

// Channels, then the positions of each dimension.
Tensor input_of(Fields& fields) {
  const std::vector<std::int64_t> sizes = fields.naturals_or_empty("input");
  Tensor out;
  if (sizes.empty()) {
    fields.fail("input", "is missing; the channels of one sample, then its sizes: [3, 224, 224]",
                Trouble::missing);
    return out;
  }
  const bool legal = sizes.size() <= 4 && std::all_of(sizes.begin(), sizes.end(), [](auto size) {
                       return size >= 1 && size <= kMostHidden;
                     });
  if (!legal) {
    fields.fail("input", "must be the channels and up to three sizes, each from 1 to " +
                             std::to_string(kMostHidden));
    return out;
  }
  Tensor given{sizes[0], {sizes.begin() + 1, sizes.end()}};
  if (given.is_plausible()) return given;
  fields.fail("input", "has more than 10^11 elements");
  return out;
}

}  // namespace

bool is_network_form(const Document& document) {
  return document.root.find("block") != nullptr;
}

Result<Model> network_from_toml(const Document& document, std::string name) {
  Problems problems;
  Fields fields(document, problems);
  Model model;
  model.name = std::move(name);
  model.source = fields.text_or("source", document.file);
  fields.text_or("note", "");
  model.sample = fields.text("sample");
  model.hidden = 1;
  model.final_norm = false;
  ModuleReader reader(input_of(fields));
  std::vector<Fields> blocks = fields.tables("block");
  if (blocks.size() > kMostBlocksOfNetwork) {
    fields.fail("block", "stands more than " + std::to_string(kMostBlocksOfNetwork) + " times");
    blocks.clear();
  }
  bool trains = false;  // some block before
  for (Fields& block : blocks) {
    block.text_or("name", "");
    const std::int64_t repeat = bounded_or(block, "repeat", 1, kMostOfABlock);
    Layer layer;
    layer.norms = 0;
    layer.modules = reader.read(block);
    const bool frozen = !layer.modules.empty() && layer.modules.front().frozen;
    if (frozen && trains) {
      block.fail("frozen", "blocks stand before all that are trained: gradients pass through none");
    }
    trains = trains || !frozen;
    block.reject_unknown();
    if (layer.modules.empty() && problems.empty()) {
      block.fail("modules", "hold no work", Trouble::missing);
    }
    add_layers(model, repeat, layer);
  }
  fields.reject_unknown();
  if (!problems.empty()) return problems;
  if (approximate_parameters(model) > kMostParameters) return implausible(fields);
  return model;
}

}  // namespace headway::reading
