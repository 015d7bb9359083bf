#include "base/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace headway {

std::optional<double> quantile(std::vector<double> values, double q) {
  if (values.empty()) return std::nullopt;
  const double at = q * static_cast<double>(values.size() - 1);
  const double part = at - std::floor(at);
  // All behind the one below are as large or larger.
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), below, values.end());
  const auto above = below + 1 == values.end() ? below : std::min_element(below + 1, values.end());
  return *below * (1 - part) + *above * part;
}

std::optional<double> mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double expected_maximum(double count) {
  // Of 2^i values: the integral of n·x·φ(x)·Φ(x)^(n - 1).
  constexpr std::array<double, 21> kOfPowers = {
      0,      0.5642, 1.0294, 1.4236, 1.7660, 2.0697, 2.3437, 2.5946, 2.8269, 3.0439, 3.2482,
      3.4418, 3.6261, 3.8023, 3.9714, 4.1341, 4.2911, 4.4430, 4.5903, 4.7332, 4.8723};
  if (count <= 1) return 0;
  const double doublings = std::log2(count);
  const auto below = std::min(static_cast<std::size_t>(doublings), kOfPowers.size() - 2);
  const double beyond = doublings - static_cast<double>(below);
  return kOfPowers[below] + beyond * (kOfPowers[below + 1] - kOfPowers[below]);
}

double student_bound(double level, int degrees) {
  // The share within +-tan(angle) * sqrt(degrees), Abramowitz & Stegun 26.7.3 and 26.7.4.
  const auto share = [&](double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    const bool odd = degrees % 2 == 1;
    double term = odd ? c : 1, sum = degrees == 1 ? 0 : term;
    for (int i = odd ? 2 : 1; i <= degrees - 3; i += 2) {
      term *= c * c * i / (i + 1);
      sum += term;
    }
    return odd ? 2 / std::numbers::pi * (angle + s * sum) : s * sum;
  };
  double low = 0, high = std::numbers::pi / 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (share(middle) < level ? low : high) = middle;
  }
  return std::tan(low) * std::sqrt(static_cast<double>(degrees));
}

}  // namespace headway
