#include "study/lifetime/goodput_stragglers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace headway {

// [SCALE-7] E[max] = ∫₀^∞ (1 - Φ(z)ⁿ) dz - ∫_{-∞}^0 Φ(z)ⁿ dz, by Simpson's rule on [-9, 9] (the
// largest of 10¹² draws lies at 7; with n = 1 both integrals are equal). A step of a rank takes
// T (1 + σ z): all of them together T (1 + σ E[max]). Valid for independent ranks and σ << 1.
double expected_normal_maximum(std::int64_t draws) {
  const double n = static_cast<double>(draws);
  constexpr int kSteps = 3600;
  constexpr double kMost = 9, h = kMost / kSteps;
  const auto power = [&](double z) { return std::pow(0.5 * std::erfc(-z / std::sqrt(2.0)), n); };
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double z = h * i, weight = i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * (1 - power(z) - power(-z));
  }
  return sum * h / 3;
}

// [SCALE-8] Σ x₍ᵢ₎ ((i/m)ⁿ - ((i-1)/m)ⁿ) / mean, x₍ᵢ₎ the i-th smallest of the m values: exact for
// their distribution. Known error: no draw is larger than the largest that was measured.
double expected_sample_maximum(std::span<const double> sample, std::int64_t draws) {
  if (sample.empty()) return 1;
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  const double m = static_cast<double>(sorted.size()), n = static_cast<double>(draws);
  const double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / m;
  double expected = 0, before = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double until = std::pow(static_cast<double>(i + 1) / m, n);
    expected += sorted[i] * (until - before);
    before = until;
  }
  return expected / mean;
}

}  // namespace headway
