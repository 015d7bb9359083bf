// Who sends what in one step: the calls of every class of rank, and how their bytes spread over the
// levels of the cluster.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "forecast/forecast.hpp"
#include "study/traffic/modules.hpp"

namespace headway {

using ByLevel = std::array<Bytes, kMostLevels>;

/// Equal calls of one rank in one step.
struct TrafficCall {
  Call call;               // count: in the step
  std::int64_t ranks = 1;  // of the group
  int level = 0;           // the outermost it crosses
  Seconds each;
  Seconds latency;     // of each: what the shortest message takes
  Seconds exposed;     // of all of them together
  bool small = false;  // [COMM-4]
  Bytes algorithm;     // of all: call.bytes times count, as nccl-tests counts for "algbw"
  Bytes wire;          // of all: what the rank sends, and receives; as for "busbw" [COMM-1]
  ByLevel wire_at{};   // of wire, by the level that it crosses [COMM-2]
  ByModule serves{};   // shares of each, by kind of layer [COMM-10]
};

/// A class of ranks with the same calls: those of pipeline stages first ... first + stages - 1.
struct ClassTraffic {
  std::int64_t first = 0, stages = 1;
  std::int64_t ranks = 1;  // in the class
  bool sets_pace = false;  // the forecast's time is that of this class
  std::vector<TrafficCall> calls;
};

struct Traffic {
  std::vector<ClassTraffic> classes;  // in the order of their stages
  std::int64_t ranks = 1;             // of the run
  Seconds step_time;
};

/// The calls of a legal run. Messages below `small_below` are small; where it is empty, those of
/// which more than half of the time is latency [COMM-4].
Traffic traffic_of(const Run& run, const Calibration& calibration,
                   std::optional<Bytes> small_below = {});

/// The calls of all classes, counted as the mean of all ranks: for totals of the run.
std::vector<TrafficCall> calls_of_mean_rank(const Traffic& traffic);

}  // namespace headway
