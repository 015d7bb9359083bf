#include "model/reading/network_form.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "model/reading/config_fields.hpp"
#include "model/reading/module_reader.hpp"

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

// Projections before the last tables of embeddings are those of the bottom.
void mark_bottom(std::vector<std::pair<std::int64_t, Layer>>& blocks) {
  bool before = false;
  for (std::size_t i = blocks.size(); i-- > 0;) {
    std::vector<NetworkModule>& modules = blocks[i].second.modules;
    for (std::size_t j = modules.size(); j-- > 0;) {
      before = before || modules[j].of == ModuleClass::tables;
      if (before && modules[j].of == ModuleClass::top) modules[j].of = ModuleClass::bottom;
    }
  }
}

// Of projections behind each other, with nothing but passes between them, every two are split
// together.
void mark_pairs(std::vector<NetworkModule>& modules) {
  NetworkModule* open = nullptr;
  for (NetworkModule& module : modules) {
    if (std::holds_alternative<Elementwise>(module.shape)) continue;
    const bool plain = module.of == ModuleClass::bottom || module.of == ModuleClass::top;
    if (!plain || !std::holds_alternative<Projection>(module.shape) || module.repeat > 1) {
      open = nullptr;
    } else if (open == nullptr) {
      open = &module;
    } else {
      open->half = Half::first;
      module.half = Half::last;
      open = nullptr;
    }
  }
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
  const Tensor input = input_of(fields);
  std::optional<Graph> graph;
  if (fields.has("graph")) graph = graph_of(fields.table("graph"));
  ModuleReader reader(input, std::move(graph));
  std::vector<Fields> blocks = fields.tables("block");
  if (blocks.size() > kMostBlocksOfNetwork) {
    fields.fail("block", "stands more than " + std::to_string(kMostBlocksOfNetwork) + " times");
    blocks.clear();
  }
  std::vector<std::pair<std::int64_t, Layer>> layers;
  bool trains = false;  // some block before
  for (Fields& block : blocks) {
    block.text_or("name", "");
    const std::int64_t repeat = bounded_or(block, "repeat", 1, kMostOfABlock);
    Layer layer;
    layer.norms = 0;
    layer.modules = reader.read(block, repeat);
    const bool frozen = !layer.modules.empty() && layer.modules.front().frozen;
    if (frozen && trains) {
      block.fail("frozen", "blocks stand before all that are trained: gradients pass through none");
    }
    trains = trains || !frozen;
    block.reject_unknown();
    if (layer.modules.empty() && problems.empty()) {
      block.fail("modules", "hold no work", Trouble::missing);
    }
    layers.emplace_back(repeat, std::move(layer));
  }
  if (const std::string why = reader.unread_of_graph(); !why.empty() && problems.empty()) {
    fields.fail("graph", why);
  }
  mark_bottom(layers);
  for (auto& [repeat, layer] : layers) {
    mark_pairs(layer.modules);
    add_layers(model, repeat, layer);
  }
  fields.reject_unknown();
  if (!problems.empty()) return problems;
  if (approximate_parameters(model) > kMostParameters) return implausible(fields);
  return model;
}

}  // namespace headway::reading
