// What the residuals of a few runs of one setup say of others like them (docs/models/own.md).
#pragma once

#include <span>
#include <string>

#include "base/document/document.hpp"
#include "base/result.hpp"

namespace headway {

/// How residuals ln(measured / predicted) spread, by setups that no constant was fitted on
/// (data/calibration/own.toml).
struct OwnPrior {
  double between = 0;  // standard deviation of the means of setups
  double within = 0;   // of runs about the mean of their setup
  double level = 0;    // share of setups whose mean lies where the runs say that it does
  double each = 0;     // most that a run may move the logarithm of the factor
};
Result<OwnPrior> own_prior_from(const Document& document);
/// That of the embedded calibration.
const Result<OwnPrior>& own_prior();
/// The text of data/calibration/own.toml. `date` as 2026-11-21.
std::string to_toml(const OwnPrior& prior, const std::string& date);

/// What is left of a setup's residuals, of at least one run.
struct Shrunk {
  double mean = 0, within = 0;  // of the residuals; their deviation, with what is known of others
  bool agree = true;            // that the mean is not 0
  double factor = 1;            // of times [OWN-1]; 1 where they do not agree
  double interval = 1;          // share of the interval's width that is left [OWN-2]
};
Shrunk shrink(const OwnPrior& prior, std::span<const double> residuals);

/// The logarithm of how likely these residuals are of one setup, but for a constant [OWN-3].
double log_evidence(const OwnPrior& prior, std::span<const double> residuals);

}  // namespace headway
