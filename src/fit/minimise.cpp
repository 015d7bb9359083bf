#include "fit/minimise.hpp"

#include <nlopt.h>

#include <memory>

namespace headway {
namespace {

double evaluate(unsigned count, const double* x, double* gradient, void* objective) {
  return (*static_cast<const Objective*>(objective))({x, count}, gradient);
}

}  // namespace

Minimum minimise(const Minimisation& search, const Objective& objective) {
  const auto algorithm = search.by == SearchBy::subplex ? NLOPT_LN_SBPLX : NLOPT_LD_SLSQP;
  const auto count = static_cast<unsigned>(search.start.size());
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> optimiser(
      nlopt_create(algorithm, count), nlopt_destroy);
  nlopt_set_lower_bounds(optimiser.get(), search.least.data());
  nlopt_set_upper_bounds(optimiser.get(), search.most.data());
  if (!search.first_step.empty()) {
    nlopt_set_initial_step(optimiser.get(), search.first_step.data());
  }
  nlopt_set_min_objective(optimiser.get(), evaluate, const_cast<Objective*>(&objective));
  if (search.value_tolerance > 0) nlopt_set_ftol_rel(optimiser.get(), search.value_tolerance);
  if (search.point_tolerance > 0) nlopt_set_xtol_rel(optimiser.get(), search.point_tolerance);
  nlopt_set_maxeval(optimiser.get(), search.most_evaluations);
  Minimum out{search.start};
  out.found = nlopt_optimize(optimiser.get(), out.at.data(), &out.value) > 0;
  return out;
}

}  // namespace headway
