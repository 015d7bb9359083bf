// Sweeps: one run changed along one axis, and what each change brings and costs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.hpp"
#include "base/result.hpp"
#include "forecast/forecast.hpp"
#include "platform/parallel.hpp"
#include "run/run.hpp"
#include "study/lifetime/assumptions.hpp"
#include "study/lifetime/run_cost.hpp"

namespace headway {

/// The layout that a point takes instead of the one it was given, as the run with it; or why there
/// is none. The planner's best layout is one, fastest_that_fits() another.
using LayoutChoice = std::function<Result<RequestedRun>(const RequestedRun&)>;

/// How the points of a sweep are made.
struct SweepSettings {
  LayoutChoice layout = {};  // empty: the layout as it stands
  GivenAssumptions given;    // the rest by the cluster and the accelerators of a point
  PowerConstants power;
  int threads = 0;         // 0: one a core
  Progress progress = {};  // told of points
};

/// A value of the axis with the run that stands there, or why none can.
struct SweepCase {
  std::string label;  // "128", "llama-2-7b"
  double value = 0;   // of the axis where it is a number; else a place in the row
  Result<RequestedRun> run;
};

/// What one more accelerator or watt brought since the point before [SCALE-23].
struct MarginalReturn {
  double per_accelerator = 0;  // tokens/s for each accelerator added
  double per_watt = 0;         // tokens/s for each watt that the accelerators draw more
};

/// Time to the loss of a base run with a point's batch [SCALE-24].
struct TimeToLoss {
  double tokens = 0;  // that the batch takes to it
  Seconds time;       // failures and checkpoints included
  // Of the point's accelerators with any batch, the one that comes to the loss first.
  std::int64_t best_batch = 0;  // sequences
  Seconds best_time;            // of training alone
  Seconds own_time;             // the same with the point's own batch
};

struct SweepPoint {
  std::string label;
  double value = 0;
  RequestedRun run;
  Forecast forecast;
  RunCost cost;                 // of the tokens assumed
  Seconds communication;        // all calls of the rank that sets the pace [SCALE-21]
  Seconds exposed;              // what of them nothing hides [SCALE-21]
  double tokens_per_joule = 0;  // of the accelerators alone [SCALE-22]
  std::optional<MarginalReturn> marginal;
  std::optional<TimeToLoss> to_loss;

  double accelerators() const { return static_cast<double>(run.layout.ranks()); }
  /// Of all accelerators, hosts not included.
  Watts power() const { return cost.accelerator_power * accelerators(); }
};

/// A value at which there is no point, and why.
struct LeftOut {
  std::string label;
  std::string reason;
};

/// Series among layouts: tensor with pipeline degrees; data parallelism that shards its states over
/// fewer ranks, of which its abscissa is the number.
constexpr std::string_view kGridName = "tp x pp", kHybridName = "hybrid";

struct SweepSeries {
  std::string name;  // empty where a sweep has only one
  std::vector<SweepPoint> points;
  std::vector<LeftOut> left_out;
  /// The first point whose marginal return is less than the threshold [SCALE-23].
  std::optional<std::size_t> diminished;
};

/// The point of a run with its forecast, or why there is none: does not fit, comes to no
/// checkpoint.
Result<SweepPoint> sweep_point(const SweepCase& at, RequestedRun run, Forecast forecast,
                               const RunAssumptions& assumed, const PowerConstants& power);
/// The same with the layout that is chosen, predicted; or illegal.
Result<SweepPoint> sweep_point(const SweepCase& at, const SweepSettings& settings);

/// A point for each case, in their order, whatever the threads.
SweepSeries sweep(std::string name, const std::vector<SweepCase>& cases,
                  const SweepSettings& settings);

/// Marginal returns of a series over accelerators, and the point at which they fall below
/// `threshold` of what the first point's accelerators bring each [SCALE-23].
void add_marginal_returns(SweepSeries& series, double threshold);

}  // namespace headway
