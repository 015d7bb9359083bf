// 80 % intervals on the step time and the memory of a forecast, conformal: from the errors of runs
// whose source no constant was fitted on. Statement, validity and coverage: docs/validation.md.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "cluster/cluster.hpp"
#include "forecast/forecast.hpp"

namespace headway {

constexpr double kIntervalCoverage = 0.8;

/// What makes a forecast harder than others.
enum class Difficulty : std::uint8_t {
  any,            // 1
  communication,  // share of the step exposed to communication and bubble
  host,           // share of the step in `other`: host, stragglers
  ranks,          // log2 of the ranks, over 10
  eight_bit,      // 1 in 8- and 4-bit recipes
  experts,        // 1 with experts
  distance,       // from the measured runs, see Reach
};
constexpr std::array<std::string_view, 7> kDifficultyNames = {
    "any", "communication", "host", "ranks", "eight_bit", "experts", "distance"};
using Difficulties = std::array<double, kDifficultyNames.size()>;

/// The box that the measured runs of one framework lie in. Distances count in doublings.
struct Box {
  static constexpr std::size_t kSides = 3;  // log2 of ranks, parameters, tokens in a sequence
  static constexpr std::array<const char*, kSides> kSideNames = {"ranks", "parameters", "sequence"};
  std::array<double, kSides> least, most;
};

/// Where measured runs lie.
struct Reach {
  std::map<std::string, Box> frameworks;
  std::set<std::string> architectures;

  /// Doublings outside of the framework's box, all sides together, and two for an architecture or
  /// a framework that no run had.
  double distance(const Run& run) const;
  void add(const Run& run);
};

/// ln(measured / predicted) lies between low · width and high · width in 80 of 100 runs, where
/// ln(width) = slopes · difficulties.
struct Spread {
  Difficulties slopes{};
  double low = 0, high = 0;
};

struct IntervalModel {
  Reach reach;
  Spread step_time, memory;
};

Difficulties difficulties(const Reach& reach, const Run& run, const Forecast& forecast);

double width(const Spread& spread, const Difficulties& difficulties);

/// A bound of ln(measured / predicted): `quantile` (Spread::low or high) times the width, within a
/// factor of four. An exponential of what no run is near to says nothing beyond that.
double log_bound(const Spread& spread, double quantile, const Difficulties& difficulties);

template <class Q>
Interval<Q> interval(const Spread& spread, const Difficulties& difficulties, Q predicted) {
  const auto bound = [&](double quantile) {
    return predicted * std::exp(log_bound(spread, quantile, difficulties));
  };
  return {bound(spread.low), bound(spread.high)};
}

/// Puts the intervals of step time and memory on a forecast. No step time below what the peak rates
/// allow.
void add_intervals(const IntervalModel& intervals, const Run& run, Forecast& forecast);

/// What intervals.toml of a calibration says of the model; tables besides are left to their reader.
IntervalModel interval_model_from(Fields& fields);
/// That of the embedded calibration, or why there is none.
const Result<IntervalModel>& embedded_interval_model();

}  // namespace headway
