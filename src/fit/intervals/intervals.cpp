#include "fit/intervals/intervals.hpp"

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/count.hpp"

namespace headway {
namespace {

constexpr double kUnseen = 2;    // doublings that an unknown framework or architecture counts as
constexpr double kFloor = 0.01;  // errors below a hundredth count as one
constexpr double kRidge = 0.25;  // of slopes, a priori: variance 4
constexpr double kWidest = 4;    // times or part of the forecast

std::array<double, Box::kSides> place(const Model& model, const Job& job, const Layout& layout) {
  return {std::log2(static_cast<double>(layout.ranks())),
          std::log2(std::max(1.0, static_cast<double>(parameters(model).total))),
          std::log2(static_cast<double>(job.sequence))};
}

std::string framework_name(const Job& job) {
  return std::string(name_of(job.framework));
}

struct Weighted {
  std::span<const Residual> residuals;
  std::vector<double> weights;
};

Weighted weigh(std::span<const Residual> residuals) {
  std::map<std::string, double> rows;
  for (const Residual& residual : residuals) rows[residual.source] += 1;
  Weighted out{residuals, {}};
  for (const Residual& residual : residuals) {
    out.weights.push_back(1 / std::sqrt(rows[residual.source]));
  }
  return out;
}

// Minus the logarithm of the likelihood of Laplace's law of each residual's width, and its slope in
// the slopes: convex.
double unlikelihood(unsigned count, const double* slopes, double* gradient, void* opaque) {
  const Weighted& data = *static_cast<Weighted*>(opaque);
  double sum = 0;
  for (unsigned k = 0; k < count; ++k) {
    sum += 0.5 * kRidge * slopes[k] * slopes[k];
    if (gradient) gradient[k] = kRidge * slopes[k];
  }
  for (std::size_t i = 0; i < data.residuals.size(); ++i) {
    const Difficulties& d = data.residuals[i].difficulties;
    const double log_width = std::inner_product(d.begin(), d.end(), slopes, 0.0);
    const double scaled =
        std::max(kFloor, std::abs(data.residuals[i].log_ratio)) / std::exp(log_width);
    sum += data.weights[i] * (scaled + log_width);
    if (!gradient) continue;
    for (unsigned k = 0; k < count; ++k) gradient[k] += data.weights[i] * d[k] * (1 - scaled);
  }
  return sum;
}

// The value below which a share q of the weight lies.
double weighted_quantile(std::vector<std::pair<double, double>> values, double q) {
  std::sort(values.begin(), values.end());
  double all = 0;
  for (const auto& [value, weight] : values) all += weight;
  double below = 0;
  for (const auto& [value, weight] : values) {
    below += weight;
    if (below >= q * all) return value;
  }
  return values.empty() ? 0 : values.back().first;
}

}  // namespace

double Reach::distance(const Model& model, const Job& job, const Layout& layout,
                       const Cluster& cluster) const {
  double out = architectures.contains(cluster.accelerator.architecture) ? 0 : kUnseen;
  const auto found = frameworks.find(framework_name(job));
  if (found == frameworks.end()) return out + kUnseen;
  const auto at = place(model, job, layout);
  for (std::size_t side = 0; side < Box::kSides; ++side) {
    out +=
        std::max({0.0, found->second.least[side] - at[side], at[side] - found->second.most[side]});
  }
  return out;
}

void Reach::add(const Model& model, const Job& job, const Layout& layout, const Cluster& cluster) {
  architectures.insert(cluster.accelerator.architecture);
  const auto at = place(model, job, layout);
  const auto [found, inserted] = frameworks.emplace(framework_name(job), Box{at, at});
  for (std::size_t side = 0; side < Box::kSides; ++side) {
    found->second.least[side] = std::min(found->second.least[side], at[side]);
    found->second.most[side] = std::max(found->second.most[side], at[side]);
  }
}

Difficulties difficulties(const Reach& reach, const Model& model, const Job& job,
                          const Layout& layout, const Cluster& cluster, const Forecast& forecast) {
  const Parts& p = forecast.parts;
  const Seconds waiting = p.tp + p.cp + p.ep + p.pp + p.dp + p.bubble;
  return {1,
          waiting / forecast.step_time,
          p.other / forecast.step_time,
          std::log2(static_cast<double>(layout.ranks())) / 10,
          job.recipe->matmul >= Precision::fp8 ? 1.0 : 0.0,
          model.kinds.back().experts ? 1.0 : 0.0,
          reach.distance(model, job, layout, cluster)};
}

double width(const Spread& spread, const Difficulties& difficulties) {
  return std::exp(
      std::inner_product(difficulties.begin(), difficulties.end(), spread.slopes.begin(), 0.0));
}

double log_bound(const Spread& spread, double quantile, const Difficulties& difficulties) {
  const double widest = std::log(kWidest);
  return std::clamp(quantile * width(spread, difficulties), -widest, widest);
}

void add_intervals(const IntervalModel& intervals, const Model& model, const Job& job,
                   const Layout& layout, const Cluster& cluster, Forecast& forecast) {
  const Difficulties d = difficulties(intervals.reach, model, job, layout, cluster, forecast);
  Interval<Seconds> times = interval(intervals.step_time, d, forecast.step_time);
  times.low = std::max(times.low, forecast.least_time);
  forecast.step_time_interval = times;
  // The driver's share is not among what was measured.
  const Interval<Bytes> allocated =
      interval(intervals.memory, d, forecast.memory.total() - forecast.driver);
  forecast.memory_interval =
      Interval<Bytes>{forecast.driver + allocated.low, forecast.driver + allocated.high};
}

Spread fit_spread(std::span<const Residual> residuals) {
  Spread out;
  if (residuals.empty()) return out;
  Weighted data = weigh(residuals);
  constexpr unsigned kCount = kDifficultyNames.size();
  std::vector<double> lower(kCount, -10.0), upper(kCount, 10.0);
  // More distance is never less uncertain.
  lower[static_cast<std::size_t>(Difficulty::distance)] = 0;
  const nlopt_opt optimiser = nlopt_create(NLOPT_LD_SLSQP, kCount);
  nlopt_set_lower_bounds(optimiser, lower.data());
  nlopt_set_upper_bounds(optimiser, upper.data());
  nlopt_set_min_objective(optimiser, unlikelihood, &data);
  nlopt_set_xtol_rel(optimiser, 1e-6);
  nlopt_set_maxeval(optimiser, 500);
  double least = 0;
  nlopt_optimize(optimiser, out.slopes.data(), &least);
  nlopt_destroy(optimiser);

  std::vector<std::pair<double, double>> scaled;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    scaled.emplace_back(residuals[i].log_ratio / width(out, residuals[i].difficulties),
                        data.weights[i]);
  }
  out.low = weighted_quantile(scaled, (1 - kIntervalCoverage) / 2);
  out.high = weighted_quantile(scaled, (1 + kIntervalCoverage) / 2);
  return out;
}

std::map<std::string, double> left_out_coverage(std::span<const Residual> residuals) {
  std::map<std::string, std::pair<double, double>> counts;  // inside, all
  for (const Residual& residual : residuals) counts[residual.source].second += 1;
  for (auto& [source, count] : counts) {
    std::vector<Residual> others;
    for (const Residual& residual : residuals) {
      if (residual.source != source) others.push_back(residual);
    }
    const Spread spread = fit_spread(others);
    for (const Residual& residual : residuals) {
      if (residual.source != source) continue;
      const auto bound = [&](double quantile) {
        return log_bound(spread, quantile, residual.difficulties);
      };
      const double at = residual.log_ratio;
      if (at >= bound(spread.low) && at <= bound(spread.high)) count.first += 1;
    }
  }
  std::map<std::string, double> out;
  for (const auto& [source, count] : counts) out[source] = count.first / count.second;
  return out;
}

}  // namespace headway
