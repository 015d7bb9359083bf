#include "fit/own/shrink.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/document/toml_text.hpp"
#include "base/formatted.hpp"
#include "base/statistics.hpp"
#include "layout/own_runs.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostDegrees = 1000;  // beyond them the law is the normal one

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double squares_about(std::span<const double> values, double centre) {
  double out = 0;
  for (const double value : values) out += (value - centre) * (value - centre);
  return out;
}

double square(double x) {
  return x * x;
}

}  // namespace

Result<OwnPrior> own_prior_from(const Document& document) {
  Problems problems;
  Fields fields(document, problems);
  OwnPrior out;
  for (const char* name : {"date", "kind", "source"}) fields.text(name);
  const auto read = [&](const char* name, double& into, double least, double most) {
    into = fields.number(name);
    if (!(into >= least && into <= most)) {
      fields.fail(name, formatted("must be from %g to %g", least, most));
    }
  };
  read("between", out.between, 1e-3, 2);
  read("within", out.within, 1e-3, 2);
  read("level", out.level, 0, 0.999);
  read("each", out.each, 0, 1);
  fields.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

const Result<OwnPrior>& own_prior() {
  static const Result<OwnPrior> prior = []() -> Result<OwnPrior> {
    const auto document = embedded_document("calibration/own.toml");
    if (!document) return document.problems();
    return own_prior_from(*document);
  }();
  return prior;
}

std::string to_toml(const OwnPrior& prior, const std::string& date) {
  return "# How residuals ln(measured / predicted) of step times spread between setups "
         "(accelerator,\n"
         "# framework, bits) and within them (docs/models/own.md). Written by\n"
         "# `headway calibrate own --write`.\n"
         "kind = \"fitted\"\ndate = " +
         toml_text(date) +
         "\nsource = \"data/measurements/training.csv, setups of six runs and more, each by "
         "constants fitted without its source: medians of absolute deviations; level and each: "
         "chosen so that three runs of a setup seldom make its others worse "
         "(docs/calibration.md)\"" +
         formatted("\nbetween = %.4g\nwithin = %.4g\nlevel = %.4g\neach = %.4g\n", prior.between,
                   prior.within, prior.level, prior.each);
}

// [OWN-1] Of n runs of a setup with residuals r = ln(measured / predicted) of mean m:
//   w^2 = (w0^2 + sum (r - m)^2) / n, spread of runs, with w0 as one run's;
//   agreed = max(0, 1 - (t * w / sqrt(n) / m)^2), the share of the mean that is no chance;
//   ln factor = m * agreed * b^2 / (b^2 + w^2 / n), at most c * n either way.
// b, w0: standard deviations between and within setups; t: Student's bound at the level, of n
// degrees of freedom; c: what one run may move (data/calibration/own.toml). agreed = 0: the runs
// agree on no factor. (The share is the non-negative garrote of Breiman 1995.) Valid for runs of
// one setup that differ as those of the corpus' setups do.
//
// [OWN-2] What is left of the interval's width, as a log:
//   sqrt((b^2 * (1 - kept) + w^2 + (m - ln factor)^2) / (b^2 + w0^2)), kept = b^2 / (b^2 + w^2 /
//   n),
// with w at least w0 / 2, and at most 1.
Shrunk shrink(const OwnPrior& prior, std::span<const double> residuals) {
  const double n = static_cast<double>(residuals.size());
  Shrunk out;
  out.mean = mean_of(residuals);
  const double known = square(prior.within), between = square(prior.between);
  const double within = (known + squares_about(residuals, out.mean)) / n;
  out.within = std::sqrt(within);
  const int degrees = static_cast<int>(std::min<std::size_t>(residuals.size(), kMostDegrees));
  const double chance = student_bound(prior.level, degrees) * std::sqrt(within / n);
  const double agreed = out.mean == 0 ? 0 : std::max(0.0, 1 - square(chance / out.mean));
  out.agree = agreed > 0;
  const double kept = between / (between + within / n);
  const double most = std::min(prior.each * n, std::log(kMostOwnFactor));
  const double factor = std::clamp(out.mean * agreed * kept, -most, most);
  out.factor = std::exp(factor);
  const double left =
      between * (1 - kept) + std::max(within, known / 4) + square(out.mean - factor);
  out.interval = std::clamp(std::sqrt(left / (between + known)), kLeastOwnInterval, 1.0);
  return out;
}

// [OWN-3] ln of the density of n residuals under r = m + e with b and w0:
//   -1/2 (ln(w0^2 + n b^2) + (n - 1) ln w0^2 + sum (r - m)^2 / w0^2 + n m^2 / (w0^2 + n b^2)).
// It grows as residuals come nearer to each other and to 0.
double log_evidence(const OwnPrior& prior, std::span<const double> residuals) {
  const double n = static_cast<double>(residuals.size()), within = square(prior.within);
  const double all = within + n * square(prior.between), mean = mean_of(residuals);
  return -0.5 * (std::log(all) + (n - 1) * std::log(within) +
                 squares_about(residuals, mean) / within + n * square(mean) / all);
}

}  // namespace headway
