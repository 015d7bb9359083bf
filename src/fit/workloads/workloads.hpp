// Files of measured training of networks that are no language models (the columns of MLPerf's
// entries and of other tables): every row predicted, or with the reason why not.
#pragma once

#include "fit/benchmarks/benchmarks.hpp"

namespace headway {

/// Every row as a benchmark's: its machine is the accelerator, its operation the network, its size
/// the nodes, its time a step's. Missing columns are problems of the file.
Result<std::vector<BenchmarkRow>> predict_workloads(const Csv& csv);

/// The errors of one network in one source, its rounds together: of all its rows, and of those on
/// up to eight accelerators.
struct WorkloadGroup {
  std::string source, network;
  std::size_t rows = 0;
  ErrorSummary all, node;
};
/// By source and network, those with predicted rows; last of all.
std::vector<WorkloadGroup> workload_groups(std::span<const BenchmarkRow> rows);

/// How the rows of one source, its rounds together, lie about their predictions: quantiles of
/// ln(measured / predicted), and the share inside the intervals told. What
/// data/calibration/workloads.toml holds of MLPerf.
struct WorkloadSpread {
  std::string source;
  bool node = false;  // on up to eight accelerators; else on more
  std::size_t rows = 0;
  double below = 0, above = 0;  // quantile 0.1, its sign turned; quantile 0.9
  double inside = 0;
};
std::vector<WorkloadSpread> workload_spreads(std::span<const BenchmarkRow> rows);

/// Rows of MLPerf of one round or one maker, held against what all others say: the interval made of
/// the quantiles of those.
struct WorkloadLeftOut {
  std::string what;  // "round v2.0", "maker Dell"
  ErrorSummary error;
  double inside = 0;  // of the others' intervals
};
std::vector<WorkloadLeftOut> workloads_left_out(std::span<const BenchmarkRow> rows);

/// What of the rate of an accelerator among eight is left among the most, of one network and
/// accelerator in one round: as measured and as predicted.
struct WorkloadScaling {
  std::string network, machine, round;
  std::int64_t ranks = 0;
  double measured = 0, predicted = 0;
};
std::vector<WorkloadScaling> workload_scaling(std::span<const BenchmarkRow> rows);

}  // namespace headway
