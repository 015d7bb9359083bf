// Time to a target end to end: samples by the law of the batch, over a measured throughput, with
// what evaluation adds.
#pragma once

#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "study/laws/steps_law.hpp"

namespace headway {

/// A measured training run with a target.
struct TargetRun {
  std::string id, benchmark, round, submitter;
  double batch = 0, throughput = 0;  // samples; samples a second
  Seconds time;                      // measured, to the target
  double samples = 0;                // measured, to the target; 0: not known
};

struct TimedTarget {
  TargetRun run;
  std::string reason;     // why it is not predicted; empty: it is
  double samples = 0;     // by the law of the round's points
  double evaluation = 0;  // share of the training time that evaluation adds
  Seconds time;           // samples / throughput · (1 + evaluation) [LAW-22]
  bool outside = false;   // the batch lies outside of the law's points
  double error() const { return time / run.time - 1; }
  double samples_error() const { return run.samples > 0 ? samples / run.samples - 1 : 0; }
};

/// The rows of a table as ../shared/workloads/measured.csv that have a benchmark, a round, a batch,
/// a throughput and a time to the target.
Result<std::vector<TargetRun>> read_target_runs(const Csv& table);

/// Each by the public points of its round; evaluation by the median of other submitters' runs of
/// the benchmark.
Result<std::vector<TimedTarget>> times_to_target(const std::vector<TargetRun>& runs);

}  // namespace headway
