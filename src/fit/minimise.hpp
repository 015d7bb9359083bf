// Where a function of several variables is least: NLopt, behind one door.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace headway {

enum class SearchBy : std::uint8_t {
  subplex,             // Rowan 1990: no derivatives
  quadratic_programs,  // SLSQP (Kraft 1994): with derivatives
};

/// A search from `start` within bounds of the same length. Deterministic. It ends where the value,
/// or the point, changes by no more than its tolerance (relative; 0: not asked), or with the last
/// evaluation.
struct Minimisation {
  SearchBy by = SearchBy::subplex;
  std::vector<double> start, least, most;
  std::vector<double> first_step = {};  // empty: by the bounds
  double value_tolerance = 0, point_tolerance = 0;
  int most_evaluations = 1000;
};

struct Minimum {
  std::vector<double> at;
  double value = 0;
  bool found = false;  // false: the optimiser failed; `at` is where it stopped
};

/// objective(x, gradient) is the value at x; `gradient`, where not null, is filled.
using Objective = std::function<double(std::span<const double> x, double* gradient)>;
Minimum minimise(const Minimisation& search, const Objective& objective);

}  // namespace headway
