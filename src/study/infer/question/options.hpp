// The one table of what `infer` is asked. Flags, run files, requests over HTTP, their schema, help
// and the form of the page are loops over its rows; a new option is a row and the member that it
// fills.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "run/request_reader.hpp"
#include "study/infer/curve.hpp"

namespace headway {

constexpr std::array<Precision, 2> kCacheFormats = {Precision::bf16, Precision::fp8};
constexpr std::array<std::string_view, 2> kCacheFormatNames = {"bf16", "fp8"};

/// What was given, each by itself.
struct ServingAsked {
  std::optional<std::int64_t> gpus, input, output;
  std::optional<std::int64_t> batch, clients;  // one of them,
  std::optional<double> rate;                  // or requests a second to all copies
  std::optional<Seconds> first_limit, each_limit;
  std::int64_t tp = 1, pp = 1, ep = 1, dp = 1;
  const Recipe* weights = recipe_from("bf16");
  std::size_t cache = 0;   // of kCacheFormats
  std::size_t engine = 0;  // of engines()
  bool best = false;
  std::optional<CurveOf> curve;
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
