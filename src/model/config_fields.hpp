// What the readers of config.json families share: bounded counts, attention and feed-forward parts
// under the usual names, and the pattern of layers. A reader is private to this folder.
#pragma once

#include <cstdint>
#include <initializer_list>
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

/// The first of `keys` that is present, or the first of them: older spellings of a field.
std::string_view present(const Fields& fields, std::initializer_list<std::string_view> keys);

/// A probability below 1; 0 where absent.
double dropout(Fields& fields, std::initializer_list<std::string_view> keys);

/// The activation named by `key`, or `fallback` where it is absent; an unknown name is a problem.
Activation activation(Fields& fields, std::string_view key, Activation fallback);

/// The names a family gives to its sizes.
struct SizeNames {
  std::string_view hidden = "hidden_size";
  std::string_view layers = "num_hidden_layers";
  std::string_view vocabulary = "vocab_size";
  std::string_view positions = "max_position_embeddings";
};

/// Sets hidden, vocabulary, maximum sequence and tied embeddings of `model`; returns the number of
/// layers (0 if that is a problem). `tied` is what transformers assumes for the family.
std::int64_t read_sizes(Fields& fields, Model& model, bool tied, const SizeNames& names = {});

/// num_attention_heads, num_key_value_heads (absent: as many), head_dim (absent: hidden / heads).
Attention read_attention(Fields& fields, const Model& model);

/// Checks that heads divide hidden (where head_dim follows from it) and that kv heads divide heads,
/// under the names given, and sets head_dim and value_dim.
void settle_heads(Fields& fields, const Model& model, Attention& attention,
                  std::string_view heads_key, std::string_view kv_heads_key);

/// Reports active experts beyond their number.
void check_experts(Fields& fields, const Experts& experts, std::string_view count_key,
                   std::string_view active_key);

/// For each layer whether `layer_types` limits its attention; empty where the field is absent.
std::vector<bool> limited_layers(Fields& fields, std::int64_t layers);

/// Appends `layer` to the pattern, as a new kind if no kind equals it.
void add_layer(Model& model, const Layer& layer);
void add_layers(Model& model, std::int64_t number, const Layer& layer);

/// Reads one family; problems are gathered in the Fields.
using FamilyReader = void (*)(Fields& fields, Model& model);

void read_llama(Fields& fields, Model& model);
void read_mistral(Fields& fields, Model& model);
void read_qwen2(Fields& fields, Model& model);
void read_qwen3(Fields& fields, Model& model);
void read_gemma(Fields& fields, Model& model);
void read_gemma2(Fields& fields, Model& model);
void read_phi3(Fields& fields, Model& model);
void read_starcoder2(Fields& fields, Model& model);
void read_nemotron(Fields& fields, Model& model);

void read_mixtral(Fields& fields, Model& model);
void read_qwen2_moe(Fields& fields, Model& model);
void read_qwen3_moe(Fields& fields, Model& model);
void read_gpt_oss(Fields& fields, Model& model);
void read_llama4(Fields& fields, Model& model);

void read_deepseek_v2(Fields& fields, Model& model);
void read_deepseek_v3(Fields& fields, Model& model);

void read_gpt2(Fields& fields, Model& model);
void read_gpt_neox(Fields& fields, Model& model);
void read_opt(Fields& fields, Model& model);
void read_bloom(Fields& fields, Model& model);
void read_falcon(Fields& fields, Model& model);
void read_mpt(Fields& fields, Model& model);

/// The number of parameters in floating point, for sizes that may not fit int64.
double approximate_parameters(const Model& model);

/// Above this, totals and their products with small factors no longer fit 64 bits.
constexpr double kMostParameters = 1e17;
Problem implausible(const Fields& fields);

}  // namespace headway::reading
