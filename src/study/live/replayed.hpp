// What a replay measured, beside what was expected of it. Formulas: docs/models/replay.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "base/result.hpp"
#include "simulate/live/list.hpp"
#include "step/program/collectives.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

/// What the replaying program says of itself: how long each repeat took on the rank that took
/// longest.
struct ReplayTimes {
  bool single = false;  // calls one by one, not a step
  std::string compute;  // "spin", "gemm"
  std::string library;
  std::int64_t ranks = 0, warm = 0;  // warm: repeats that were dropped
  std::vector<double> steps;         // seconds
};
Result<ReplayTimes> read_replay_times(const Document& document);

/// What was expected: of a run its forecast.
struct ReplayForecast {
  struct Each {
    std::string group;
    CollectiveOp op = CollectiveOp::all_reduce;
    Bytes bytes;
    Seconds time;
  };
  Seconds step;
  std::vector<Each> calls;
};

/// Equal calls of groups of one name.
struct ReplayedCall {
  std::string group;
  Operation op = Operation::all_reduce;
  std::int64_t ranks = 0;
  Bytes bytes;
  double count = 0;  // of one rank in one repeat, a mean over those that make it
  std::optional<Seconds> forecast;
  std::int64_t samples = 0;
  // [LIVE-5] Of the transfer; the mean of a rank's waiting for the others. Nothing: no sample.
  std::optional<Seconds> least = {}, median = {}, p95 = {}, waiting = {};
};

struct Replayed {
  std::string source;
  ReplayTimes times;
  std::optional<Seconds> forecast;          // of the step
  std::vector<ReplayedCall> calls;          // by group, operation, size
  std::int64_t expected = 0, recorded = 0;  // calls of all ranks in all repeats

  Seconds step_at(double share) const;  // 0.5: the median
};

/// [LIVE-5] Calls of one number of a communicator, or else the k-th of each of its ranks, are one.
/// Its transfer is the time of the rank for which it was shortest, where no rank can leave before
/// all have come; of a message from when both ends were there; of the rest the longest. Waiting is
/// what the time of a rank is longer.
Replayed replayed(const LiveList& list, const Recording& recording, ReplayTimes times,
                  const std::optional<ReplayForecast>& forecast);

}  // namespace headway
