#include "forecast/intervals/intervals.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/count.hpp"

namespace headway {
namespace {

constexpr double kUnseen = 2;  // doublings that an unknown framework or architecture counts as
constexpr double kWidest = 4;  // times or part of the forecast

std::array<double, Box::kSides> place(const Run& run) {
  return {std::log2(static_cast<double>(run.layout.ranks())),
          std::log2(std::max(1.0, static_cast<double>(parameters(run.model).total))),
          std::log2(static_cast<double>(run.job.sequence))};
}

std::string framework_name(const Job& job) {
  return std::string(name_of(job.framework));
}

}  // namespace

double Reach::distance(const Run& run) const {
  double out = architectures.contains(run.cluster.accelerator.architecture) ? 0 : kUnseen;
  const auto found = frameworks.find(framework_name(run.job));
  if (found == frameworks.end()) return out + kUnseen;
  const auto at = place(run);
  for (std::size_t side = 0; side < Box::kSides; ++side) {
    out +=
        std::max({0.0, found->second.least[side] - at[side], at[side] - found->second.most[side]});
  }
  return out;
}

void Reach::add(const Run& run) {
  architectures.insert(run.cluster.accelerator.architecture);
  const auto at = place(run);
  const auto [found, inserted] = frameworks.emplace(framework_name(run.job), Box{at, at});
  for (std::size_t side = 0; side < Box::kSides; ++side) {
    found->second.least[side] = std::min(found->second.least[side], at[side]);
    found->second.most[side] = std::max(found->second.most[side], at[side]);
  }
}

Difficulties difficulties(const Reach& reach, const Run& run, const Forecast& forecast) {
  const Parts& p = forecast.parts;
  const Seconds waiting = p.exposed() + p.bubble;
  return {1,
          waiting / forecast.step_time,
          p.other / forecast.step_time,
          std::log2(static_cast<double>(run.layout.ranks())) / 10,
          run.job.recipe->matmul >= Precision::fp8 ? 1.0 : 0.0,
          run.model.kinds.back().experts ? 1.0 : 0.0,
          reach.distance(run)};
}

double width(const Spread& spread, const Difficulties& difficulties) {
  return std::exp(
      std::inner_product(difficulties.begin(), difficulties.end(), spread.slopes.begin(), 0.0));
}

double log_bound(const Spread& spread, double quantile, const Difficulties& difficulties) {
  const double widest = std::log(kWidest);
  return std::clamp(quantile * width(spread, difficulties), -widest, widest);
}

void add_intervals(const IntervalModel& intervals, const Run& run, Forecast& forecast) {
  const Difficulties d = difficulties(intervals.reach, run, forecast);
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
