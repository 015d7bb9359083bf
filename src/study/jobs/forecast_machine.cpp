#include "study/jobs/forecast_machine.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "forecast/predict/predict.hpp"
#include "study/lifetime/run_cost.hpp"

namespace headway {
namespace {

class ForecastJobMachine : public JobMachine {
 public:
  ForecastJobMachine(std::size_t nodes, std::vector<ForecastTimes> times,
                     std::optional<FleetCosts> costs, LeafSwitches leaves)
      : nodes_(nodes), times_(std::move(times)), costs_(costs), leaves_(leaves) {
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
  bool shares_links() const override { return leaves_.nodes > 0; }
  std::vector<double> slowdowns(std::span<const RunsOn> jobs) const override;

 private:
  const StepOnLinks& step_of(const RunsOn& job) const {
    const auto& at = times_[job.kind].at;
    return std::find_if(at.begin(), at.end(),
                        [&](const ForecastAtDegree& each) { return each.degree == job.degree; })
        ->step;
  }

  std::size_t nodes_;
  std::vector<ForecastTimes> times_;
  std::optional<FleetCosts> costs_;
  LeafSwitches leaves_;
  std::vector<std::string> names_;
  // What was simulated, by the jobs that share links: their kinds, degrees and links.
  mutable std::map<std::vector<std::uint64_t>, std::vector<double>> known_;
};

// Jobs that share links, directly or by others between them, are simulated together.
std::vector<double> ForecastJobMachine::slowdowns(std::span<const RunsOn> jobs) const {
  std::vector<double> out(jobs.size(), 1);
  std::vector<JobOnLinks> uses;
  std::vector<std::size_t> group(jobs.size());
  std::map<std::uint32_t, std::size_t> group_of;  // of each link
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    uses.push_back(leaves_.use(step_of(jobs[i]), jobs[i].servers));
    group[i] = i;
    for (const std::uint32_t link : uses[i].links) {
      const std::size_t before = group_of.try_emplace(link, i).first->second;
      const std::size_t from = group[i], to = group[before];
      if (from == to) continue;
      for (std::size_t& each : group) each = each == from ? to : each;
    }
  }
  std::map<std::size_t, std::vector<std::size_t>> together;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!uses[i].links.empty()) together[group[i]].push_back(i);
  }
  for (auto& [first, members] : together) {
    const auto key_of = [&](std::size_t i) {
      std::vector<std::uint64_t> key = {jobs[i].kind, static_cast<std::uint64_t>(jobs[i].degree),
                                        std::bit_cast<std::uint64_t>(uses[i].streams),
                                        uses[i].links.size()};
      key.insert(key.end(), uses[i].links.begin(), uses[i].links.end());
      return key;
    };
    std::stable_sort(members.begin(), members.end(),
                     [&](std::size_t a, std::size_t b) { return key_of(a) < key_of(b); });
    std::vector<std::uint64_t> key;
    std::vector<JobOnLinks> of;
    std::uint32_t links = 0;
    for (const std::size_t i : members) {
      const auto own = key_of(i);
      key.insert(key.end(), own.begin(), own.end());
      of.push_back(uses[i]);
      links = std::max(links, uses[i].links.back() + 1);
    }
    const auto [known, is_new] = known_.try_emplace(std::move(key));
    if (is_new) {
      const std::vector<BytesPerSecond> capacities(links, leaves_.uplink);
      known->second = slowdowns_on_links(of, capacities, leaves_.stream);
    }
    for (std::size_t m = 0; m < members.size(); ++m) out[members[m]] = known->second[m];
  }
  return out;
}

// Calls beyond a node, apart; all else is computation.
StepOnLinks step_on_links(const Forecast& forecast) {
  StepOnLinks out;
  Seconds sent, exchanged;
  for (const PricedCall& call : forecast.calls) {
    if (call.level == 0) continue;
    const Seconds all = static_cast<double>(call.call.count) * call.each;
    sent += all;
    if (call.call.op == CollectiveOp::all_to_all) exchanged += all;
    out.exposed += std::min(all, call.exposed);
  }
  out.exposed = std::min(out.exposed, forecast.step_time);
  out.hidden = std::max(Seconds(), sent - out.exposed);
  out.compute = forecast.step_time - out.exposed;
  // What is called hidden is hidden: it takes no longer than the computation beside it.
  out.hidden = std::min(out.hidden, out.compute);
  if (sent > Seconds()) out.exchanged = exchanged / sent;
  return out;
}

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
                            cost.energy.total(), 0, step_on_links(*forecast)};
  }
  if (cost.hopeless) {
    return Problem{FieldName("job", job.name),
                   "fails on " + std::to_string(degree) +
                       " nodes before it passes from a checkpoint to the next"};
  }
  return ForecastAtDegree{degree, cost.time.total(), cost.energy.total(), cost.time.failures,
                          step_on_links(*forecast)};
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

Result<BytesPerSecond> node_bandwidth(const ForecastNodes& nodes) {
  const auto cluster = load_cluster(nodes.cluster);
  if (!cluster) return cluster.problems();
  return static_cast<double>(nodes.accelerators) * cluster->levels.back().bandwidth;
}

Result<Seconds> usual_mtbf() {
  const auto assumed = default_assumptions(Cluster(), 1);
  if (!assumed) return assumed.problems();
  return assumed->mtbf;
}

std::unique_ptr<JobMachine> forecast_job_machine(std::size_t nodes,
                                                 std::vector<ForecastTimes> times,
                                                 std::optional<FleetCosts> costs,
                                                 LeafSwitches leaves) {
  return std::make_unique<ForecastJobMachine>(nodes, std::move(times), costs, leaves);
}

}  // namespace headway
