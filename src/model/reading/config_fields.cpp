#include "model/reading/config_fields.hpp"

#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "model/linear.hpp"

namespace headway::reading {
namespace {

std::int64_t within(Fields& fields, std::string_view key, std::int64_t value, std::int64_t most) {
  if (value <= most) return value;
  fields.fail(
      key, "is implausibly large (" + std::to_string(value) + "); at most " + std::to_string(most));
  return 0;
}

struct NamedActivation {
  std::string_view name;
  Activation activation;
};
// Variants that differ in how they are approximated cost the same.
constexpr NamedActivation kActivations[] = {
    {"silu", Activation::silu},          {"swish", Activation::silu},
    {"gelu", Activation::gelu},          {"gelu_new", Activation::gelu},
    {"gelu_fast", Activation::gelu},     {"gelu_pytorch_tanh", Activation::gelu},
    {"gelu_tanh", Activation::gelu},     {"quick_gelu", Activation::gelu},
    {"gelu_python", Activation::gelu},   {"relu", Activation::relu},
    {"relu2", Activation::squared_relu}, {"squared_relu", Activation::squared_relu},
};

}  // namespace

std::int64_t bounded(Fields& fields, std::string_view key, std::int64_t most) {
  return within(fields, key, fields.count(key), most);
}

std::int64_t bounded_or(Fields& fields, std::string_view key, std::int64_t fallback,
                        std::int64_t most) {
  return within(fields, key, fields.count_or(key, fallback), most);
}

std::int64_t natural_up_to(Fields& fields, std::string_view key, std::int64_t most) {
  return within(fields, key, fields.natural_or(key, 0), most);
}

double dropout(Fields& fields, std::string_view key) {
  const double probability = fields.number_or(key, 0);
  if (probability >= 0 && probability < 1) return probability;
  fields.fail(key, "must be a probability from 0 to below 1");
  return 0;
}

std::optional<Activation> activation_named(std::string_view name) {
  for (const NamedActivation& row : kActivations) {
    if (row.name == name) return row.activation;
  }
  return std::nullopt;
}

void fail_activation(Fields& fields, std::string_view key, const std::string& name) {
  std::vector<std::string> known;
  for (const NamedActivation& row : kActivations) known.emplace_back(row.name);
  fields.fail(key, "'" + printable(name) + "' is not a known activation" + suggestion(name, known),
              Trouble::unknown);
}

Activation activation(Fields& fields, std::string_view key, Activation fallback) {
  if (!fields.has(key)) return fallback;
  const std::string name = fields.text(key);
  if (name.empty()) return fallback;
  if (const auto known = activation_named(name)) return *known;
  fail_activation(fields, key, name);
  return fallback;
}

void settle_heads(Fields& fields, const Model& model, Attention& attention,
                  std::string_view heads_key, std::string_view kv_heads_key) {
  const std::int64_t heads = attention.heads;
  if (heads > 0 && attention.kv_heads > 0 && heads % attention.kv_heads != 0) {
    fields.fail(kv_heads_key, "is " + std::to_string(attention.kv_heads) +
                                  ", which does not divide the " + std::to_string(heads) +
                                  " heads");
  }
  if (attention.head_dim == 0 && heads > 0 && model.hidden > 0) {
    if (model.hidden % heads != 0) {
      fields.fail(heads_key, "is " + std::to_string(heads) + ", which does not divide the hidden " +
                                 "size " + std::to_string(model.hidden));
    }
    attention.head_dim = model.hidden / heads;
  }
  attention.value_dim = attention.head_dim;
}

void check_experts(Fields& fields, const Experts& experts, std::string_view count_key,
                   std::string_view active_key) {
  if (experts.count > 0 && experts.active > experts.count) {
    fields.fail(active_key, "is " + std::to_string(experts.active) + ", more than the " +
                                std::to_string(experts.count) + " of " + std::string(count_key));
  }
}

void add_layer(Model& model, const Layer& layer) {
  auto kind = std::find(model.kinds.begin(), model.kinds.end(), layer);
  if (kind == model.kinds.end()) {
    if (model.kinds.size() == kMostKinds) return;  // readers make at most four kinds
    kind = model.kinds.insert(model.kinds.end(), layer);
  }
  model.pattern.push_back(static_cast<std::uint8_t>(kind - model.kinds.begin()));
}

void add_layers(Model& model, std::int64_t number, const Layer& layer) {
  for (std::int64_t i = 0; i < number; ++i) add_layer(model, layer);
}

double approximate_parameters(const Model& model) {
  const auto hidden = static_cast<double>(model.hidden);
  double total = static_cast<double>(2 * model.vocabulary + model.learned_positions) * hidden;
  std::vector<double> of_kind;
  for (const Layer& layer : model.kinds) {
    double values = 4 * hidden;
    for (const Linear& linear : linears(layer, model.hidden)) {
      const double copies =
          is_expert(linear.role) ? static_cast<double>(layer.experts->count) : 1.0;
      values += copies * static_cast<double>(linear.in) * static_cast<double>(linear.out);
    }
    for (const NetworkModule& module : layer.modules) {
      values += module_weights(module) + table_values(module);
    }
    of_kind.push_back(values);
  }
  for (const std::uint8_t kind : model.pattern) total += of_kind[kind];
  if (!model.pattern.empty()) {
    total += static_cast<double>(model.prediction_layers) *
             (of_kind[model.pattern.back()] + 2 * hidden * hidden);
  }
  return total;
}

Problem implausible(const Fields& fields) {
  return {fields.where(),
          "describes an implausibly large model (more than 10^17 parameters); check the widths"};
}

}  // namespace headway::reading
