// What the readers of models share: bounded counts, what heads and experts must obey, the pattern
// of layers. Private to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "model/model.hpp"

namespace headway::reading {

// Largest plausible sizes; a config is hostile input. All products of two of them fit int64.
constexpr std::int64_t kMostHidden = 10'000'000;
constexpr std::int64_t kMostHeads = 1'000'000;
constexpr std::int64_t kMostHeadDim = 1'000'000;
constexpr std::int64_t kMostWidth = 1'000'000'000;
constexpr std::int64_t kMostTaps = 1'000'000;
constexpr std::int64_t kMostVocabulary = 1'000'000'000;
constexpr std::int64_t kMostExperts = 1'000'000;
constexpr std::int64_t kMostPositions = 1'000'000'000'000;
constexpr std::int64_t kMostLearnedPositions = 1'000'000'000;
constexpr std::int64_t kMostPredictionLayers = 1'000;

/// A required whole number from 1 to `most`; more is a problem ("implausibly large") and gives 0.
std::int64_t bounded(Fields& fields, std::string_view key, std::int64_t most);
/// The same, with a value for an absent or null field.
std::int64_t bounded_or(Fields& fields, std::string_view key, std::int64_t fallback,
                        std::int64_t most);
/// The same, from 0, with 0 for an absent field.
std::int64_t natural_up_to(Fields& fields, std::string_view key, std::int64_t most);

/// A probability below 1; 0 where absent.
double dropout(Fields& fields, std::string_view key);

/// The activation named by `key`, or `fallback` where it is absent; an unknown name is a problem.
Activation activation(Fields& fields, std::string_view key, Activation fallback);
/// The activation of that name, if there is one.
std::optional<Activation> activation_named(std::string_view name);
void fail_activation(Fields& fields, std::string_view key, const std::string& name);

/// Checks that heads divide hidden (where head_dim follows from it) and that kv heads divide heads,
/// under the names given, and sets head_dim and value_dim.
void settle_heads(Fields& fields, const Model& model, Attention& attention,
                  std::string_view heads_key, std::string_view kv_heads_key);

/// Reports active experts beyond their number.
void check_experts(Fields& fields, const Experts& experts, std::string_view count_key,
                   std::string_view active_key);

/// Appends `layer` to the pattern, as a new kind if no kind equals it.
void add_layer(Model& model, const Layer& layer);
void add_layers(Model& model, std::int64_t number, const Layer& layer);

/// The format in which a config.json keeps weights, by its quantization_config, as serving calls it
/// (data/serving/formats.toml and the recipes of 8 and 4 bits); empty: none that is known.
/// `experts`: whether the network has any.
std::string weights_of(const Node& quantization_config, bool experts);

/// The number of parameters in floating point, for sizes that may not fit int64.
double approximate_parameters(const Model& model);

/// Above this, totals and their products with small factors no longer fit 64 bits.
constexpr double kMostParameters = 1e17;
Problem implausible(const Fields& fields);

}  // namespace headway::reading
