#include "fit/steps/fit.hpp"

#include <cmath>
#include <set>
#include <span>

#include "fit/minimise.hpp"
#include "fit/steps/objective.hpp"

namespace headway {
namespace {

constexpr int kMostEvaluations = 60;    // of a round
constexpr double kWorthARound = 0.003;  // relative gain
constexpr double kEnough = 1e-4;        // relative change of the loss that ends the search

// The optimiser moves the offsets that a part of the loss depends on, each in a unit in which that
// part curves about alike; the others stay.
struct Search {
  const StepObjective& objective;
  Decides part;
  std::vector<double> start;         // all offsets
  std::vector<std::size_t> offsets;  // moved
  std::vector<double> units;         // of each of them, in spreads
  int evaluations = 0;

  std::vector<double> all(std::span<const double> moved) const {
    std::vector<double> x = start;
    for (std::size_t i = 0; i < offsets.size(); ++i) x[offsets[i]] += moved[i] * units[i];
    return x;
  }
};

Search search_from(std::vector<double> start, Decides part, const StepObjective& objective) {
  Search out{objective, part, std::move(start), {}, {}};
  const std::vector<double> curvatures = objective.curvatures(part, out.start);
  for (std::size_t k = 0; k < curvatures.size(); ++k) {
    if (curvatures[k] == 0) continue;
    out.offsets.push_back(k);
    out.units.push_back(1 / std::sqrt(1 + curvatures[k]));
  }
  return out;
}

double evaluate(Search& search, std::span<const double> moved, double* gradient) {
  ++search.evaluations;
  const std::vector<double> x = search.all(moved);
  if (gradient == nullptr) return search.objective.loss(search.part, x);
  std::vector<double> slopes(x.size());
  const double loss = search.objective.loss(search.part, x, slopes.data(), search.offsets);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    gradient[i] = slopes[search.offsets[i]] * search.units[i];
  }
  return loss;
}

// Moves the offsets that `part` decides to where its loss is least.
std::vector<double> fit_part(std::vector<double> x, Decides part, const StepObjective& objective,
                             int most_rounds, StepFit& report) {
  report.loss_before += objective.loss(part, x) - objective.prior(x);
  double least = 0;
  // What the optimiser knows of curvatures goes stale where the slowest of several things changes:
  // started anew from where it stopped it goes on.
  for (int round = 0; round < most_rounds; ++round) {
    Search search = search_from(x, part, objective);
    const std::size_t count = search.offsets.size();
    std::vector<double> lower(count), upper(count);
    for (std::size_t i = 0; i < count; ++i) {
      lower[i] = (-kFarthest - x[search.offsets[i]]) / search.units[i];
      upper[i] = (kFarthest - x[search.offsets[i]]) / search.units[i];
    }
    const double before = objective.loss(part, x);
    const Minimum found = minimise({SearchBy::quadratic_programs,
                                    std::vector<double>(count, 0),
                                    lower,
                                    upper,
                                    {},
                                    kEnough,
                                    0,
                                    kMostEvaluations},
                                   [&](std::span<const double> moved, double* gradient) {
                                     return evaluate(search, moved, gradient);
                                   });
    least = found.value;
    x = search.all(found.at);
    report.evaluations += search.evaluations;
    if (round == 0) report.parameters += count;
    if (least > before * (1 - kWorthARound)) break;
  }
  report.loss_after += least - objective.prior(x);
  return x;
}

// The entry's runs: how many, of how many sources, and how well they are met.
FittedEntry entry_of(const OffsetStretch& stretch, const std::vector<MeasuredRun>& runs,
                     const std::vector<std::optional<double>>& errors) {
  FittedEntry out;
  out.section = stretch.section;
  out.name = stretch.name;
  std::set<std::string> sources;
  std::vector<double> own;
  for (const std::size_t i : stretch.runs) {
    sources.insert(runs[i].source);
    if (errors[i]) own.push_back(*errors[i]);
  }
  out.rows = stretch.runs.size();
  out.sources = {sources.begin(), sources.end()};
  out.error = summarise(own);
  return out;
}

}  // namespace

StepFit fit_steps(const std::vector<MeasuredRun>& runs, const StepConstants& estimates, int threads,
                  int most_rounds) {
  const StepObjective objective(runs, estimates, threads);
  StepFit out;
  std::vector<double> x(objective.size(), 0);
  // Memory first: whether it is at its limit bears on the time, and no time bears on memory.
  x = fit_part(std::move(x), Decides::memory, objective, most_rounds, out);
  x = fit_part(std::move(x), Decides::step_time, objective, most_rounds, out);
  out.constants = objective.constants(x);
  const std::vector<std::optional<double>> errors = objective.errors(out.constants);
  for (const OffsetStretch& stretch : objective.stretches()) {
    out.entries.push_back(entry_of(stretch, runs, errors));
  }
  return out;
}

}  // namespace headway
