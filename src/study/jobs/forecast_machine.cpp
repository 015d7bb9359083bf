#include "study/jobs/forecast_machine.hpp"

#include <algorithm>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "forecast/predict/predict.hpp"
#include "study/lifetime/run_cost.hpp"

namespace headway {
namespace {

class ForecastJobMachine : public JobMachine {
 public:
  ForecastJobMachine(std::size_t nodes, std::vector<ForecastTimes> times,
                     std::optional<FleetCosts> costs)
      : nodes_(nodes), times_(std::move(times)), costs_(costs) {
    for (const ForecastTimes& each : times_) names_.push_back(each.name);
  }
  std::size_t servers() const override { return nodes_; }
  const std::vector<std::string>& kinds() const override { return names_; }
  Seconds alone(std::size_t kind) const override { return times_[kind].at.front().time; }
  std::vector<int> degrees(std::size_t kind, std::size_t free) const override {
    std::vector<int> out;
    for (const ForecastAtDegree& each : times_[kind].at) {
      if (static_cast<std::size_t>(each.degree) <= free) out.push_back(each.degree);
    }
    return out;
  }
  std::optional<JobStart> start(std::size_t kind, int degree,
                                const BusyServers& busy) const override {
    JobStart out;
    for (const ForecastAtDegree& each : times_[kind].at) {
      if (each.degree == degree) out = {{}, each.time, each.energy, each.failures};
    }
    const auto wanted = static_cast<std::size_t>(degree);
    out.servers.reserve(wanted);
    for (std::size_t i = 0; i < busy.size() && out.servers.size() < wanted; ++i) {
      if (!busy[i]) out.servers.push_back(i);
    }
    if (out.servers.size() < wanted) return std::nullopt;
    return out;
  }
  std::optional<FleetCosts> costs() const override { return costs_; }

 private:
  std::size_t nodes_;
  std::vector<ForecastTimes> times_;
  std::optional<FleetCosts> costs_;
  std::vector<std::string> names_;
};

// [JOBS-11] A job of so many steps as a whole run of them: failures of its accelerators at their
// rate, the best interval between checkpoints, work done twice, restarts; no spare nodes, for it
// waits in the fleet. Its time is the mean.
Result<ForecastAtDegree> at_degree(const ForecastJob& job, int degree, const ForecastNodes& nodes,
                                   bool& fits) {
  RunRequest fields = job.fields;
  fields.emplace_back("gpus", std::to_string(degree * nodes.accelerators));
  const auto run = make_run(fields);
  if (!run) return run.problems();
  const auto forecast = predict(*run);
  if (!forecast) return forecast.problems();
  fits = forecast->fits;
  const auto calibration = calibration_for(*run);
  if (!calibration) return calibration.problems();
  auto assumed = default_assumptions(run->cluster, run->layout.ranks());
  if (!assumed) return assumed.problems();
  assumed->tokens = static_cast<double>(job.steps) * static_cast<double>(run->job.global_batch) *
                    static_cast<double>(run->job.sequence);
  assumed->mtbf = nodes.mtbf;
  assumed->spares = 0;
  assumed->repair = Seconds(0);
  const RunCost cost = run_cost(*run, *forecast, *assumed, calibration->power);
  if (!(nodes.mtbf > Seconds())) {
    return ForecastAtDegree{degree, forecast->step_time * static_cast<double>(job.steps),
                            cost.energy.total(), 0};
  }
  if (cost.hopeless) {
    return Problem{FieldName("job", job.name),
                   "fails on " + std::to_string(degree) +
                       " nodes before it passes from a checkpoint to the next"};
  }
  return ForecastAtDegree{degree, cost.time.total(), cost.energy.total(), cost.time.failures};
}

}  // namespace

Result<std::vector<ForecastTimes>> forecast_times(const std::vector<ForecastJob>& jobs,
                                                  const ForecastNodes& nodes) {
  std::vector<ForecastTimes> out;
  Problems problems;
  for (const ForecastJob& job : jobs) {
    ForecastTimes each{job.name, {}};
    bool legal = true;
    for (const int degree : job.degrees) {
      bool fits = false;
      const auto at = at_degree(job, degree, nodes, fits);
      if (!at) {
        append(problems, at.problems());
        legal = false;
        break;
      }
      if (fits) each.at.push_back(*at);
    }
    if (legal && each.at.empty()) {
      problems.push_back({FieldName("job", job.name), "fits in memory at none of its degrees"});
    }
    out.push_back(std::move(each));
  }
  if (!problems.empty()) return problems;
  return out;
}

Result<FleetCosts> fleet_costs(const ForecastNodes& nodes) {
  const auto cluster = load_cluster(nodes.cluster);
  if (!cluster) return cluster.problems();
  const auto calibration = calibration_for(*cluster);
  if (!calibration) return calibration.problems();
  const auto count = static_cast<double>(nodes.accelerators);
  const Watts idle = idle_power(cluster->accelerator) + host_power(calibration->power, *cluster);
  return FleetCosts{nodes.accelerators, count * cluster->power_usage_effectiveness * idle,
                    count * cluster->price_per_accelerator_hour};
}

Result<Seconds> usual_mtbf() {
  const auto assumed = default_assumptions(Cluster(), 1);
  if (!assumed) return assumed.problems();
  return assumed->mtbf;
}

std::unique_ptr<JobMachine> forecast_job_machine(std::size_t nodes,
                                                 std::vector<ForecastTimes> times,
                                                 std::optional<FleetCosts> costs) {
  return std::make_unique<ForecastJobMachine>(nodes, std::move(times), costs);
}

}  // namespace headway
