#include "forecast/intervals/intervals.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/count.hpp"

namespace headway {
namespace {

std::array<double, Box::kSides> place(const Run& run) {
  return {std::log2(static_cast<double>(run.layout.ranks())),
          std::log2(std::max(1.0, static_cast<double>(parameters(run.model).total))),
          std::log2(static_cast<double>(run.job.sequence))};
}

std::string framework_name(const Job& job) {
  return std::string(name_of(job.framework));
}

// Framework, architecture and bits of the products: "megatron hopper 8".
std::string setup_name(const Run& run) {
  const double bits = 8 * bytes_per_element(run.job.recipe->matmul);
  return framework_name(run.job) + " " + run.cluster.accelerator.architecture + " " +
         std::to_string(static_cast<int>(bits));
}

Box around_all(const std::map<std::string, Box>& frameworks) {
  Box out = frameworks.begin()->second;
  for (const auto& [name, box] : frameworks) {
    for (std::size_t side = 0; side < Box::kSides; ++side) {
      out.least[side] = std::min(out.least[side], box.least[side]);
      out.most[side] = std::max(out.most[side], box.most[side]);
    }
  }
  return out;
}

}  // namespace

double Reach::distance(const Run& run) const {
  if (frameworks.empty()) return 0;
  const auto found = frameworks.find(framework_name(run.job));
  const Box box = found == frameworks.end() ? around_all(frameworks) : found->second;
  const auto at = place(run);
  double out = 0;
  for (std::size_t side = 0; side < Box::kSides; ++side) {
    out += std::max({0.0, box.least[side] - at[side], at[side] - box.most[side]});
  }
  return out;
}

Nearness Reach::nearness(const Run& run) const {
  const auto of = [](const std::map<std::string, std::size_t>& counts, const std::string& name) {
    const auto found = counts.find(name);
    return found == counts.end() ? std::size_t{0} : found->second;
  };
  Nearness out;
  for (const auto& [name, box] : frameworks) {
    out.runs += box.runs;
    if (name == framework_name(run.job)) out.of_framework = box.runs;
  }
  out.on_accelerator = of(accelerators, run.cluster.accelerator.name);
  out.of_setup = of(setups, setup_name(run));
  out.doublings = distance(run);
  return out;
}

void Reach::add(const Run& run, bool timed) {
  const std::size_t one = timed ? 1 : 0;
  accelerators[run.cluster.accelerator.name] += one;
  setups[setup_name(run)] += one;
  const auto at = place(run);
  const auto [found, inserted] = frameworks.emplace(framework_name(run.job), Box{at, at});
  found->second.runs += one;
  for (std::size_t side = 0; side < Box::kSides; ++side) {
    found->second.least[side] = std::min(found->second.least[side], at[side]);
    found->second.most[side] = std::max(found->second.most[side], at[side]);
  }
}

Difficulties difficulties(const Reach& reach, const Run& run, const Forecast& forecast,
                          const Guesses& guesses) {
  const Parts& p = forecast.parts;
  const double waiting = (p.exposed() + p.bubble) / forecast.step_time;
  const auto one_if = [](bool holds) { return holds ? 1.0 : 0.0; };
  return {1,
          one_if(guesses.software || !reach.frameworks.contains(framework_name(run.job))),
          one_if(!reach.accelerators.contains(run.cluster.accelerator.name)),
          one_if(!reach.setups.contains(setup_name(run))),
          waiting * waiting,
          one_if(run.model.kinds.back().experts.has_value()),
          reach.distance(run),
          one_if(guesses.memory),
          one_if(guesses.batch),
          one_if(guesses.split),
          one_if(guesses.work)};
}

double log_width(const Difficulties& variances, const Difficulties& difficulties) {
  const double variance =
      std::inner_product(difficulties.begin(), difficulties.end(), variances.begin(), 0.0);
  return std::min(std::sqrt(variance), std::log(kFarthestFactor));
}

void add_intervals(const IntervalModel& intervals, const Run& run, Forecast& forecast,
                   const Guesses& guesses) {
  const Difficulties d = difficulties(intervals.reach, run, forecast, guesses);
  Interval<Seconds> times = interval(intervals.step_time, d, forecast.step_time);
  times.low = std::max(times.low, forecast.least_time);
  forecast.step_time_interval = times;
  // The driver's share is not among what was measured.
  const Interval<Bytes> allocated =
      interval(intervals.memory, d, forecast.memory.total() - forecast.driver);
  forecast.memory_interval =
      Interval<Bytes>{forecast.driver + allocated.low, forecast.driver + allocated.high};
}

}  // namespace headway
