// [INTERVAL-1] 80 % intervals on the step time and the memory of a forecast, from the errors of
// runs whose source, accelerator or framework no constant was fitted on: docs/models/intervals.md.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "cluster/cluster.hpp"
#include "forecast/forecast.hpp"

namespace headway {

constexpr double kIntervalCoverage = 0.8;

/// What makes a forecast uncertain, as amounts to which variances go [INTERVAL-1].
enum class Difficulty : std::uint8_t {
  any,          // 1
  framework,    // 1 where no measured run had the framework
  accelerator,  // 1 where none had the accelerator
  setup,        // 1 where none had framework, architecture and bits of products together
  waiting,      // square of the share exposed to communication and bubble
  experts,      // 1 with experts
  distance,     // from the measured runs, see Reach
  guessed_memory,
  guessed_batch,
  guessed_split,
  guessed_work,
};
constexpr std::array<std::string_view, 11> kDifficultyNames = {
    "any",      "framework",      "accelerator",   "setup",         "waiting",     "experts",
    "distance", "guessed_memory", "guessed_batch", "guessed_split", "guessed_work"};
using Difficulties = std::array<double, kDifficultyNames.size()>;

/// What decides a result and was guessed, not stated.
struct Guesses {
  bool software = false;  // a framework that nothing is known of
  bool memory = false;    // recomputation, offloading
  bool batch = false;     // sequences in a step or a micro-batch
  bool split = false;     // degrees of parallelism
  bool work = false;      // the model's shape, the precision
};

/// The box that the measured runs of one framework lie in. Distances count in doublings.
struct Box {
  static constexpr std::size_t kSides = 3;  // log2 of ranks, parameters, tokens in a sequence
  static constexpr std::array<const char*, kSides> kSideNames = {"ranks", "parameters", "sequence"};
  std::array<double, kSides> least, most;
  std::size_t runs = 0;  // of which the step was timed
};

/// How many measured runs stand behind a forecast's interval, of which the step was timed, and how
/// far from them the forecast's run lies.
struct Nearness {
  std::size_t runs = 0;
  std::size_t of_framework = 0, on_accelerator = 0;  // of them with the run's own
  std::size_t of_setup = 0;  // its framework on any accelerator of its architecture, with its bits
  double doublings = 0;      // Reach::distance
};

/// Where measured runs lie.
struct Reach {
  std::map<std::string, Box> frameworks;
  std::map<std::string, std::size_t> accelerators, setups;  // with the runs of each, timed

  /// Doublings outside of the framework's box, all sides together; of the box about all frameworks
  /// where no run had it.
  double distance(const Run& run) const;
  Nearness nearness(const Run& run) const;
  void add(const Run& run, bool timed = true);
};

/// Variances of ln(measured / predicted) for each unit of a difficulty: its quantile 0.1 lies at
/// minus the root of what they come to `below`, its quantile 0.9 at the root of that `above`.
struct Spread {
  Difficulties below{}, above{};
};

struct IntervalModel {
  Reach reach;
  Spread step_time, memory;
};

Difficulties difficulties(const Reach& reach, const Run& run, const Forecast& forecast,
                          const Guesses& guesses = {});

/// The root of the variances that the difficulties come to, at most ln of kFarthestFactor: a
/// quantile of ln(measured / predicted), or minus one.
double log_width(const Difficulties& variances, const Difficulties& difficulties);
/// No bound lies farther from its forecast, in times or parts of it: what no run is near to, no
/// error of runs tells.
constexpr double kFarthestFactor = 2.3;

template <class Q>
Interval<Q> interval(const Spread& spread, const Difficulties& difficulties, Q predicted) {
  return {predicted * std::exp(-log_width(spread.below, difficulties)),
          predicted * std::exp(log_width(spread.above, difficulties))};
}

/// Puts the intervals of step time and memory on a forecast. No step time below what the peak rates
/// allow.
void add_intervals(const IntervalModel& intervals, const Run& run, Forecast& forecast,
                   const Guesses& guesses = {});

/// What intervals.toml of a calibration says of the model; tables besides are left to their reader.
IntervalModel interval_model_from(Fields& fields);
/// That of the embedded calibration, or why there is none.
const Result<IntervalModel>& embedded_interval_model();

}  // namespace headway
