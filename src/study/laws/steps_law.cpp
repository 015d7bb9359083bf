#include "study/laws/steps_law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace headway {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kMost = 1e18;  // of batches and of progress

struct Line {
  double constant = 0, slope = 0;
};

// The line a + bB whose relative errors have the least squares, neither a nor b below zero.
Line least_squares(std::span<const StepsPoint> points) {
  double s11 = 0, s12 = 0, s22 = 0, r1 = 0, r2 = 0;
  for (const StepsPoint& point : points) {
    const double weight = 1 / point.progress;
    s11 += weight * weight;
    s12 += weight * weight * point.batch;
    s22 += weight * weight * point.batch * point.batch;
    r1 += weight;
    r2 += weight * point.batch;
  }
  const double determinant = s11 * s22 - s12 * s12;
  const Line free{(r1 * s22 - r2 * s12) / determinant, (s11 * r2 - s12 * r1) / determinant};
  if (free.slope < 0) return {r1 / s11, 0};
  if (free.constant < 0) return {0, r2 / s22};
  return free;
}

std::size_t batches_of(std::span<const StepsPoint> points) {
  std::set<double> out;
  for (const StepsPoint& point : points) out.insert(point.batch);
  return out.size();
}

}  // namespace

// [LAW-13] McCandlish et al. 2018 (arXiv 1812.06162): steps K = E0/B + E0/C, samples E = K·B. The
// same as [SCALE-10] with E_min = E0; Lee et al. (arXiv 2003.11316) find it as c1/B + c2. Known
// error: metaparameters are taken to be tuned for each batch.
double StepsLaw::progress_at(double batch) const {
  return progress * (1 + batch / critical);
}

// [LAW-14] E = a + b·B, E0 = a, C = a/b. A sound fit of the public points leaves 1 to 7 % rms.
Result<StepsLaw> fit_steps_law(const StepsSeries& series) {
  const std::size_t batches = batches_of(series.points);
  if (batches < 2) {
    return Problem{"steps", "of " + series.name + " are of one batch: two or more make a law"};
  }
  StepsLaw out{
      .name = series.name, .unit = series.unit, .source = series.source, .kept_aside_error = {}};
  std::vector<StepsPoint> points = series.points;
  std::sort(points.begin(), points.end(), [](const StepsPoint& a, const StepsPoint& b) {
    return a.batch != b.batch ? a.batch < b.batch : a.progress < b.progress;
  });
  const Line line = least_squares(points);
  out.progress = line.constant;
  out.critical = line.slope > 0 ? line.constant / line.slope : kNever;
  if (out.critical > kMost) out.critical = kNever;  // flat as far as anybody counts
  if (!(out.progress > 0 && out.progress <= kMost)) {
    return Problem{
        "steps",
        "of " + series.name +
            " grow in proportion with the batch or faster, or pass 10^18: no law of batches"};
  }
  double squares = 0;
  for (const StepsPoint& point : points) {
    const double error = out.progress_at(point.batch) / point.progress - 1;
    squares += error * error;
  }
  out.points = points.size();
  out.rms = std::sqrt(squares / static_cast<double>(points.size()));
  out.least_batch = points.front().batch;
  out.most_batch = points.back().batch;
  if (batches < 3) return out;
  const auto largest = std::find_if(points.begin(), points.end(), [&](const StepsPoint& point) {
    return point.batch == out.most_batch;
  });
  const Line without = least_squares({points.begin(), largest});
  double measured = 0;
  for (auto point = largest; point != points.end(); ++point) measured += point->progress;
  measured /= static_cast<double>(points.end() - largest);
  out.kept_aside_error = (without.constant + without.slope * out.most_batch) / measured - 1;
  return out;
}

// [LAW-15] Below C/4 the samples K·B lie within 25 % of E0, above 4C the steps within 25 % of E0/C;
// between the two each doubling brings less (Shallue et al. 2018, all of 35 workloads).
BatchRegime regime_of(double batch, double critical) {
  constexpr double kWidth = 4;
  if (batch <= critical / kWidth) return BatchRegime::perfect;
  return batch < critical * kWidth ? BatchRegime::diminishing : BatchRegime::flat;
}

std::string_view words_of(BatchRegime regime) {
  switch (regime) {
    case BatchRegime::perfect:
      return "perfect scaling";
    case BatchRegime::diminishing:
      return "diminishing";
    case BatchRegime::flat:
      break;
  }
  return "flat";
}

// [LAW-16] K = f1·c1/B + f2·c2: E0 grows by f1, C by f1/f2. Lee et al. find curves of one shape at
// every sparsity, shifted up; no constants are published, so that the factors are the user's.
StepsLaw with_sparsity(const StepsLaw& law, const SparsityFactors& factors) {
  StepsLaw out = law;
  out.progress *= factors.samples;
  out.critical *= factors.samples / factors.steps;
  return out;
}

}  // namespace headway
