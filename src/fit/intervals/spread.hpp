// The spread of measured over predicted, fitted to what is left of runs.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "forecast/intervals/intervals.hpp"

namespace headway {

/// One run for the fit of a spread.
struct Residual {
  std::string source;
  std::string left_out;  // what the constants did not see: its source, accelerator or framework
  double log_ratio = 0;  // ln(measured / predicted) by those constants
  Difficulties difficulties{};
  double least = -1e9;  // ln(least time / predicted)
  double share = 1;     // of its weight
};

/// [INTERVAL-2] The variances at which the interval score is least. The two bounds are quantiles,
/// each where its own pinball loss is least. The n runs of a source that were left out together
/// count as n to the power of 0.4, between as one and as many: they share their conditions.
/// `start`: near it.
Spread fit_spread(std::span<const Residual> residuals, const Spread* start = nullptr);

/// [INTERVAL-2] (u - l) + 2/alpha·(l - y)+ + 2/alpha·(y - u)+ of logarithms, alpha = 0.2: the width
/// and ten times what the interval is missed by.
double interval_score(double low, double high, double at);

/// How intervals came out for one run.
struct Held {
  std::string source;
  double width = 0;  // ln(high / low)
  double score = 0;
  bool inside = false;
};
/// Of each residual, by one spread.
std::vector<Held> held_by(const Spread& spread, std::span<const Residual> residuals);
/// Of each residual, by the spread of those of all other sources, near that of all.
std::vector<Held> held_by_others(const Spread& spread, std::span<const Residual> residuals);

}  // namespace headway
