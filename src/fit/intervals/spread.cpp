#include "fit/intervals/spread.hpp"

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headway {
namespace {

constexpr double kFloor = 0.01;  // errors below a hundredth count as one
constexpr double kRidge = 0.25;  // of slopes, a priori: variance 4

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
