#include "fit/intervals/spread.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "fit/minimise.hpp"

namespace headway {
namespace {

constexpr double kTail = (1 - kIntervalCoverage) / 2;
constexpr double kSharing = 0.6;  // n rows of a source count as n to the power of 1 less this
constexpr double kRidge = 1e-3;   // of variances: what tells nothing stays small
constexpr double kSmallest = -12, kLargest = 1.5, kFirst = -4;  // ln of a variance
constexpr int kMostEvaluations = 2000, kRounds = 3;

std::vector<double> weights_of(std::span<const Residual> residuals) {
  std::map<std::pair<std::string, std::string>, double> rows;
  for (const Residual& each : residuals) rows[{each.source, each.left_out}] += 1;
  std::vector<double> out;
  double sum = 0;
  for (const Residual& each : residuals) {
    out.push_back(each.share * std::pow(rows[{each.source, each.left_out}], -kSharing));
    sum += out.back();
  }
  for (double& weight : out) weight /= sum;
  return out;
}

Difficulties variances_at(std::span<const double> logs) {
  Difficulties out{};
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = std::exp(logs[k]);
  return out;
}

// The variances whose root is the upper quantile of sign · ln(measured / predicted).
Difficulties fit_side(std::span<const Residual> residuals, double sign, const Difficulties* start) {
  const std::vector<double> weights = weights_of(residuals);
  const auto loss = [&](std::span<const double> logs, double*) {
    const Difficulties variances = variances_at(logs);
    double sum = 0;
    for (const double variance : variances) sum += kRidge * variance;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
      const double beyond =
          sign * residuals[i].log_ratio - log_width(variances, residuals[i].difficulties);
      sum += weights[i] * std::max((1 - kTail) * beyond, -kTail * beyond);
    }
    return sum;
  };
  constexpr std::size_t kCount = kDifficultyNames.size();
  std::vector<double> at(kCount, kFirst);
  for (std::size_t k = 0; start != nullptr && k < kCount; ++k) {
    at[k] = std::clamp(std::log((*start)[k]), kSmallest, kLargest);
  }
  // Subplex ends early in narrow valleys: from there it starts anew.
  for (int round = 0; round < (start ? 1 : kRounds); ++round) {
    at = minimise({SearchBy::subplex, at, std::vector<double>(kCount, kSmallest),
                   std::vector<double>(kCount, kLargest), std::vector<double>(kCount, 1.0), 1e-6,
                   1e-4, kMostEvaluations},
                  loss)
             .at;
  }
  Difficulties out = variances_at(at);
  for (double& variance : out) {
    if (variance < 1e-5) variance = 0;
  }
  return out;
}

Held held(const Spread& spread, const Residual& of) {
  const double low = std::max(-log_width(spread.below, of.difficulties), of.least);
  const double high = log_width(spread.above, of.difficulties);
  const double at = of.log_ratio;
  return {of.source, high - low, interval_score(low, high, at), at >= low && at <= high};
}

}  // namespace

double interval_score(double low, double high, double at) {
  const double missed = std::max({0.0, low - at, at - high});
  return high - low + 2 / (1 - kIntervalCoverage) * missed;
}

Spread fit_spread(std::span<const Residual> residuals, const Spread* start) {
  if (residuals.empty()) return {};
  return {fit_side(residuals, -1, start ? &start->below : nullptr),
          fit_side(residuals, 1, start ? &start->above : nullptr)};
}

std::vector<Held> held_by(const Spread& spread, std::span<const Residual> residuals) {
  std::vector<Held> out;
  for (const Residual& each : residuals) out.push_back(held(spread, each));
  return out;
}

std::vector<Held> held_by_others(const Spread& spread, std::span<const Residual> residuals) {
  std::map<std::string, Spread> spreads;
  for (const Residual& each : residuals) {
    if (spreads.contains(each.source)) continue;
    std::vector<Residual> others;
    for (const Residual& other : residuals) {
      if (other.source != each.source) others.push_back(other);
    }
    spreads.emplace(each.source, fit_spread(others, &spread));
  }
  std::vector<Held> out;
  for (const Residual& each : residuals) out.push_back(held(spreads.at(each.source), each));
  return out;
}

}  // namespace headway
