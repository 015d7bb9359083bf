// One priced step: its time and where it goes, memory, rates, energy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "cost/calibration/calibration.hpp"
#include "forecast/parts.hpp"
#include "forecast/pipeline_time.hpp"
#include "layout/run.hpp"
#include "step/step.hpp"

namespace headway {

/// A call of the rank that sets the pace, with its price.
struct PricedCall {
  Call call;  // count: in the whole step
  std::int64_t ranks = 1;
  int level = 0;  // the outermost level it crosses
  Seconds each;
  Seconds exposed;  // of all of them together
  int block = -1;   // of the step, that it belongs to; -1: to the stage
};

/// What the bubble follows from: the classes of pipeline stages, the first stages first, and one
/// transfer between neighbours.
struct PipelineTimes {
  std::vector<StageTime> stages;
  std::size_t pace = 0;  // the class that sets the pace
  Seconds send;
};

/// Four of five measured runs lie between the two.
template <class Q>
struct Interval {
  Q low, high;
};

struct Forecast {
  Parts parts;
  PipelineTimes pipeline;
  Seconds step_time;   // = parts.total()
  Seconds least_time;  // of its products at the peak, masked scores left out
  double tokens_per_second = 0;
  double tokens_per_second_per_accelerator = 0;
  FlopsPerSecond model_flops_per_accelerator;
  double mfu = 0;       // attention as asked for, against the peak of the recipe's products
  double hfu = 0;       // the same with recomputation
  double busy = 0;      // share of the step that its products take at the rate they sustain
  Memory memory;        // of the rank that holds most
  Memory first_memory;  // of rank 0, which many logs report
  Bytes driver;         // of memory.other: what the framework's allocator does not hold
  Bytes gaps;           // of memory.other: between tensors, given back at the limit [FORECAST-15]
  Bytes capacity;
  // By the errors of measured runs: added by who knows them (fit/intervals.hpp).
  std::optional<Interval<Seconds>> step_time_interval;
  std::optional<Interval<Bytes>> memory_interval;
  bool fits = false;
  Joules energy;  // of all accelerators of the run, one step [FORECAST-6]
  std::vector<PricedCall> calls;
  bool pace_is_far = false;  // of two machines, whether the far one has the stage of the calls
  std::vector<std::string> notes;
};

/// The calls of one class of rank: pipeline stages `first` ... `first + stages - 1`.
struct StageCalls {
  std::int64_t first = 0, stages = 1;
  bool sets_pace = false;
  /// In the order of the blocks; those of both halves of a layer apart. What is exposed is what
  /// this rank's own computation leaves open.
  std::vector<PricedCall> calls;
};

/// Forecast::calls of every class of rank, not only of the one that sets the pace. Pure.
std::vector<StageCalls> calls_by_stage(const Run& run, const Calibration& calibration);

/// Prices a legal run (check() found nothing). Pure: no file, clock, thread or global.
Forecast forecast(const Run& run, const Calibration& calibration);

}  // namespace headway
