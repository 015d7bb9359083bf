#include "model/reading/module_reader.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "model/reading/config_fields.hpp"

namespace headway::reading {
namespace {

constexpr std::size_t kMostModules = 4'000;  // of a block
constexpr int kDeepestGroups = 8;
constexpr double kMostElements = 1e11;  // of one tensor of one sample

}  // namespace

std::int64_t Tensor::positions() const {
  std::int64_t out = 1;
  for (const std::int64_t each : size) out *= each;
  return out;
}

double Tensor::elements() const {
  double out = static_cast<double>(channels);
  for (const std::int64_t each : size) out *= static_cast<double>(each);
  return out;
}

bool Tensor::is_plausible() const {
  return elements() <= kMostElements;
}

bool ModuleReader::become(Fields& module, Tensor next) {
  if (next.is_plausible()) {
    at_ = std::move(next);
    return true;
  }
  module.fail("", "makes a tensor of more than 10^11 elements a sample");
  at_ = {1, {}};
  return false;
}

std::vector<NetworkModule> ModuleReader::read(Fields& table, std::int64_t repeat) {
  out_.clear();
  block_repeat_ = repeat;
  frozen_ = table.flag_or("frozen", false);
  read_list(table, "modules");
  return std::move(out_);
}

void ModuleReader::read_list(Fields& table, std::string_view key) {
  if (depth_ >= kDeepestGroups) return table.fail(key, "lies too deep");
  ++depth_;
  for (Fields& module : table.tables(key)) {
    if (out_.size() >= kMostModules) {
      table.fail(key, "holds more than " + std::to_string(kMostModules) + " modules");
      break;
    }
    read_module(module);
    module.reject_unknown();
    if (!become(module, at_)) break;
  }
  --depth_;
}

void ModuleReader::read_module(Fields& module) {
  struct Kind {
    const char* key;
    void (*read)(ModuleReader&, Fields&);
    std::optional<ModuleClass> of = std::nullopt;
  };

  static constexpr Kind kKinds[] = {
      {"conv", [](ModuleReader& r, Fields& m) { r.convolution(m, false); },
       ModuleClass::convolution},
      {"transposed", [](ModuleReader& r, Fields& m) { r.convolution(m, true); },
       ModuleClass::convolution},
      {"experts", [](ModuleReader& r, Fields& m) { r.expert_projection(m); }, ModuleClass::experts},
      {"linear", [](ModuleReader& r, Fields& m) { r.projection(m); }},
      {"pool", [](ModuleReader& r, Fields& m) { r.pool(m); }},
      {"gather", [](ModuleReader& r, Fields& m) { r.gather(m); }},
      {"upsample", [](ModuleReader& r, Fields& m) { r.upsample(m); }},
      {"attention", [](ModuleReader& r, Fields& m) { r.attention(m); }, ModuleClass::attention},
      {"core", [](ModuleReader& r, Fields& m) { r.core(m); }, ModuleClass::attention},
      {"feed_forward", [](ModuleReader& r, Fields& m) { r.feed_forward(m); },
       ModuleClass::feed_forward},
      {"lstm", [](ModuleReader& r, Fields& m) { r.recurrent(m, 4); }},
      {"gru", [](ModuleReader& r, Fields& m) { r.recurrent(m, 3); }},
      {"tables", [](ModuleReader& r, Fields& m) { r.tables(m); }, ModuleClass::tables},
      {"embedding", [](ModuleReader& r, Fields& m) { r.embedding(m); }},
      {"values", [](ModuleReader& r, Fields& m) { r.values(m); }},
      {"interaction", [](ModuleReader& r, Fields& m) { r.interaction(m); },
       ModuleClass::interaction},
      {"cross", [](ModuleReader& r, Fields& m) { r.cross(m); }, ModuleClass::interaction},
      {"fetch", [](ModuleReader& r, Fields& m) { r.fetch(m); }},
      {"graph_attention", [](ModuleReader& r, Fields& m) { r.graph_attention(m); }},
      {"group", [](ModuleReader& r, Fields& m) { r.group(m); }},
      {"residual", [](ModuleReader& r, Fields& m) { r.residual(m); }},
      {"branch", [](ModuleReader& r, Fields& m) { r.branch(m); }},
      {"take", [](ModuleReader& r, Fields& m) { r.take(m); }},
      {"add", [](ModuleReader& r, Fields& m) { r.add_saved(m); }},
      {"concat", [](ModuleReader& r, Fields& m) { r.concat(m); }},
      {"reshape", [](ModuleReader& r, Fields& m) { r.reshape(m); }},
  };
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const Kind& each) { return module.has(each.key); });
  if (kind != std::end(kKinds)) {
    of_ = kind->of.value_or(ModuleClass::other);
    kind->read(*this, module);
    of_ = ModuleClass::other;
  } else if (!module.has("norm") && !module.has("activation") && !module.has("loss") &&
             !module.has("save")) {
    std::string known;
    for (const Kind& each : kKinds) known += std::string(each.key) + ", ";
    return module.fail("", "names no module; known: " + known + "norm, activation, loss, save");
  }
  norm_and_activation(module);
  const std::string name = module.text_or("save", "");
  if (!name.empty()) saved_[name] = at_;
}

void ModuleReader::norm_and_activation(Fields& module) {
  const std::string norm = module.text_or("norm", "");
  if (!norm.empty()) {
    static constexpr std::string_view kNames[] = {"batch",  "group", "layer",
                                                  "frozen", "scale", "plain"};
    const auto* found = std::find(std::begin(kNames), std::end(kNames), norm);
    if (found == std::end(kNames)) {
      module.fail("norm",
                  "is '" + printable(norm) + "'; legal: batch, group, layer, frozen, scale, plain");
    } else {
      push(Normalisation{.over = static_cast<NormOver>(found - std::begin(kNames)),
                         .channels = at_.channels,
                         .positions = at_.positions()});
    }
  }
  // The logits are read for the loss, and read and written for their gradient, in any kernel.
  if (module.flag_or("loss", false)) pass(at_.elements(), 1, 2, 1, 2, 0);
  // Read and written; backward the gradient and what decides it read, one written. In the kernel
  // before it (a product's end, a norm's) nothing is left.
  const std::string activation = module.text_or("activation", "");
  if (!activation.empty()) pass(at_.elements(), 2, 3, 0, 0, activation == "relu" ? 0 : 1);
}

void ModuleReader::push(ModuleShape shape, Half half) {
  out_.push_back({.shape = std::move(shape),
                  .repeat = repeat_,
                  .shares_weights = shares_weights_,
                  .frozen = frozen_,
                  .of = of_,
                  .half = half});
}

void ModuleReader::pass(double values, double forward, double backward, double fused_forward,
                        double fused_backward, double kept) {
  push(Elementwise{.forward = values * forward,
                   .backward = values * backward,
                   .fused_forward = values * fused_forward,
                   .fused_backward = values * fused_backward,
                   .kept = values * kept});
}

// Two read, one written; where they part, backward two gradients are read and their sum written.
void ModuleReader::add() {
  pass(at_.elements(), 3, 3, 1, 2, 0);
}

}  // namespace headway::reading
