// What a sweep is asked: one run along one axis.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/run.hpp"
#include "study/lifetime/assumptions.hpp"
#include "study/sweep/choice.hpp"

namespace headway {

/// The axes of `scale`, each a command of its name.
enum class SweepAxis : std::uint8_t { weak, strong, model, context, hardware, network, layout };
constexpr std::array<std::string_view, 7> kSweepNames = {"weak",     "strong",  "model", "context",
                                                         "hardware", "network", "layout"};
constexpr std::string_view to_name(SweepAxis axis) {
  return kSweepNames[static_cast<std::size_t>(axis)];
}
/// Whether the points of the axis are numbers of accelerators.
constexpr bool is_over_accelerators(SweepAxis axis) {
  return axis == SweepAxis::weak || axis == SweepAxis::strong;
}
/// Whether they are names, so that they stand in a row.
constexpr bool is_over_names(SweepAxis axis) {
  return axis == SweepAxis::model || axis == SweepAxis::hardware;
}

/// What the command of an axis takes besides the fields of `scale run`, where --tokens may be left
/// out.
std::span<const RunField> scale_sweep_fields(SweepAxis axis);

/// What was asked for, read.
struct SweepQuestion {
  SweepAxis axis = SweepAxis::weak;
  RequestedRun base;
  GivenAssumptions given;
  std::vector<AssumedValue> assumed;  // with the base run
  bool tokens_given = false;
  LayoutFreedom free;
  bool best = false;               // each point takes the best layout
  double threshold = 0.5;          // share of the first return that counts as diminished
  bool keep_tokens = true;         // context: as many tokens a step, else as many sequences
  std::vector<std::int64_t> at;    // accelerators, sequence lengths or degrees; empty: the default
  std::vector<std::string> names;  // models; clusters, empty: the default
  std::vector<double> bandwidth, latency;
  std::vector<std::int64_t> domain;
  std::vector<std::int64_t> shard;  // layout: groups of hybrid sharding; empty: the default
};
/// Everything that is wrong with run, assumptions and axis, or the question.
Result<SweepQuestion> read_sweep(SweepAxis axis, const RunRequest& request);

}  // namespace headway
