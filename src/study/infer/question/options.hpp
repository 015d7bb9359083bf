// The one table of what `infer` is asked. Flags, run files, requests over HTTP, their schema, help
// and the form of the page are loops over its rows; a new option is a row and the member that it
// fills.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "run/request_reader.hpp"
#include "study/infer/search/curve.hpp"

namespace headway {

constexpr std::array<std::string_view, 2> kPromptNames = {"first", "beside"};
constexpr std::array<std::string_view, 2> kAdmitNames = {"whole", "prompt"};
constexpr std::array<std::string_view, 2> kExchangeNames = {"collective", "kernels"};

/// What was given, each by itself.
struct ServingAsked {
  std::optional<std::int64_t> gpus, input, output;
  std::optional<std::int64_t> batch, clients;  // one of them,
  std::optional<double> rate;                  // or requests a second to all copies
  std::optional<Seconds> first_limit, each_limit;
  std::int64_t tp = 1, pp = 1, ep = 1, dp = 1, cp = 1;
  std::optional<std::size_t> weights;  // of weights_names(); none: bf16
  std::size_t cache = 0;               // of cache_formats()
  std::size_t engine = 0;              // of engines()
  bool best = false;
  std::optional<std::string> formats;  // that the best are chosen among
  std::optional<CurveOf> curve;
  // How long and when, and what of a prompt is held.
  std::optional<std::string> input_spread, output_spread;
  std::optional<std::int64_t> count;
  std::optional<double> prefix_hit, goodput;
  // Prefill and decode apart.
  std::optional<std::string> prefill, decode;
  bool streamed = false, two_batches = false, disaggregate = false, eager = false;
  // Tokens over experts, and guesses of the next ones.
  std::optional<double> imbalance, acceptance;
  std::optional<std::int64_t> redundant_experts, guesses;
  std::optional<std::size_t> exchange;  // of kExchangeNames
  std::optional<std::string> draft;
  // The engine's habits, where they are to be others; of kPromptNames and kAdmitNames.
  std::optional<double> memory_share;
  std::optional<std::int64_t> step_tokens, step_sequences, block;
  std::optional<std::size_t> prompts, admit;
};

struct ServingOption {
  RunField field;
  /// Null: model and cluster, which are loaded.
  void (*read)(RequestReader& in, const RunField& field, ServingAsked& out) = nullptr;
};

/// The table, in the order in which help shows it.
std::span<const ServingOption> serving_options();

/// The fields of its rows; their help says what may be given, and what stands where nothing is.
std::span<const RunField> serving_fields();

/// The headings under which help and the page show them.
constexpr std::array<std::string_view, 5> kServingGroups = {"Serving", "Load", "Split",
                                                            "Formats and engine", "Asked"};

}  // namespace headway
