#include "fit/step_fit.hpp"

#include <nlopt.h>

#include <cmath>
#include <set>

#include "fit/step_objective.hpp"

namespace headway {
namespace {

constexpr double kFarthest = 6;  // offset, in spreads
constexpr int kMostEvaluations = 60;
constexpr double kEnough = 1e-5;  // relative change of the loss that ends the search

struct Search {
  const StepObjective* objective;
  int evaluations = 0;
};

double evaluate(unsigned count, const double* x, double* gradient, void* opaque) {
  Search& search = *static_cast<Search*>(opaque);
  ++search.evaluations;
  return search.objective->loss({x, count}, gradient);
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

StepFit fit_steps(const std::vector<MeasuredRun>& runs, const StepConstants& estimates,
                  int threads) {
  const StepObjective objective(runs, estimates, threads);
  const auto count = static_cast<unsigned>(objective.size());
  std::vector<double> x(count, 0);

  StepFit out;
  out.parameters = count;
  out.loss_before = objective.loss(x, nullptr);
  Search search{&objective};
  const nlopt_opt optimiser = nlopt_create(NLOPT_LD_SLSQP, count);
  nlopt_set_lower_bounds1(optimiser, -kFarthest);
  nlopt_set_upper_bounds1(optimiser, kFarthest);
  nlopt_set_min_objective(optimiser, evaluate, &search);
  nlopt_set_ftol_rel(optimiser, kEnough);
  nlopt_set_maxeval(optimiser, kMostEvaluations);
  nlopt_optimize(optimiser, x.data(), &out.loss_after);
  nlopt_destroy(optimiser);

  out.evaluations = search.evaluations;
  out.constants = objective.constants(x);
  const std::vector<std::optional<double>> errors = objective.errors(out.constants);
  for (const OffsetStretch& stretch : objective.stretches()) {
    out.entries.push_back(entry_of(stretch, runs, errors));
  }
  return out;
}

}  // namespace headway
