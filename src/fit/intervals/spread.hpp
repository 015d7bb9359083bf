// The spread of measured over predicted, fitted to what is left of runs.
#pragma once

#include <map>
#include <span>
#include <string>

#include "forecast/intervals/intervals.hpp"

namespace headway {

/// One run for the fit of a spread.
struct Residual {
  std::string source;
  double log_ratio = 0;  // ln(measured / predicted), by constants that did not see the source
  Difficulties difficulties{};
};

/// The slopes are those under which Laplace's law makes the residuals likeliest, the n runs of a
/// source counting as the root of n; low and high the quantiles of what is left.
Spread fit_spread(std::span<const Residual> residuals);

/// The share of the residuals inside their interval by the residuals of all other sources, by
/// source.
std::map<std::string, double> left_out_coverage(std::span<const Residual> residuals);

}  // namespace headway
