// A real cluster whose jobs take what Headway forecasts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "run/run.hpp"
#include "study/jobs/machine.hpp"
#include "study/jobs/shared_links.hpp"

namespace headway {

/// A kind of job: a run without its accelerators, in so many steps.
struct ForecastJob {
  std::string name;
  RunRequest fields;  // of a run, but gpus
  std::int64_t steps = 1;
  std::vector<int> degrees;  // nodes that it may run on
};

/// What a kind takes at a degree that fits in memory, by the whole run that it is: with failures,
/// checkpoints and restarts where accelerators fail.
struct ForecastAtDegree {
  int degree = 1;
  Seconds time;
  Joules energy;  // hosts and cooling among it
  double failures = 0;
  StepOnLinks step = {};  // as the network between nodes sees it
};
struct ForecastTimes {
  std::string name;
  std::vector<ForecastAtDegree> at;  // by degree
};

/// Nodes of a cluster, and how often an accelerator fails (0: never).
struct ForecastNodes {
  std::string cluster;
  std::int64_t accelerators = 8;  // of a node
  Seconds mtbf{};
};

/// Forecasts every kind. Problems: a degree whose run is not legal; a kind that fits at none, or
/// that fails faster than it passes from a checkpoint to the next.
Result<std::vector<ForecastTimes>> forecast_times(const std::vector<ForecastJob>& jobs,
                                                  const ForecastNodes& nodes);
/// What a node sends to other nodes at most, one way.
Result<BytesPerSecond> node_bandwidth(const ForecastNodes& nodes);
Result<FleetCosts> fleet_costs(const ForecastNodes& nodes);
/// The time of one accelerator between interruptions that is usual.
Result<Seconds> usual_mtbf();

/// Nodes, of which a job takes the first that are free: its time alone is that of its degree
/// wherever it lies, and jobs slow each other where they share links above `leaves`. Its time
/// alone, of which limits are fractions, is that of its least degree.
std::unique_ptr<JobMachine> forecast_job_machine(std::size_t nodes,
                                                 std::vector<ForecastTimes> times,
                                                 std::optional<FleetCosts> costs = std::nullopt,
                                                 LeafSwitches leaves = {});

}  // namespace headway
