// A real cluster whose jobs take what Headway forecasts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "run/run.hpp"
#include "study/jobs/machine.hpp"

namespace headway {

/// A kind of job: a run without its accelerators, in so many steps.
struct ForecastJob {
  std::string name;
  RunRequest fields;  // of a run, but gpus
  std::int64_t steps = 1;
  std::vector<int> degrees;  // nodes that it may run on
};

/// What a kind takes at each degree that fits in memory.
struct ForecastTimes {
  std::string name;
  std::vector<std::pair<int, Seconds>> times;  // by degree
};

/// Forecasts every kind on `node` accelerators for each node. Problems: a degree whose run is not
/// legal; a kind that fits at none.
Result<std::vector<ForecastTimes>> forecast_times(const std::vector<ForecastJob>& jobs,
                                                  std::int64_t node);

/// Nodes, of which a job takes the first that are free: its time is that of its degree wherever it
/// lies. Its time alone, of which limits are fractions, is that of its least degree.
std::unique_ptr<JobMachine> forecast_job_machine(std::size_t nodes,
                                                 std::vector<ForecastTimes> times);

}  // namespace headway
