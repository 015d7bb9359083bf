// How well own runs calibrate: setups of the corpus, each calibrated on a few of its runs and held
// against the others (docs/calibration.md).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fit/own/shrink.hpp"
#include "fit/steps/data.hpp"
#include "fit/steps/fit.hpp"
#include "platform/parallel.hpp"

namespace headway {

/// A run of a setup as constants predict it, logarithms over the predicted time.
struct TriedRun {
  double residual = 0;       // of the measured time
  double low = 0, high = 0;  // of its interval
};
struct TriedSetup {
  std::string name;  // source, accelerator, framework, bits
  std::vector<TriedRun> runs;
};

/// The measured runs of each setup by the constants in force; `left_out`: by constants fitted
/// without the setup's source, of which there are some twenty: minutes. Nothing where `progress`
/// stops it.
std::vector<TriedSetup> setups_as_fitted(const std::vector<MeasuredRun>& runs);
std::optional<std::vector<TriedSetup>> setups_left_out(const std::vector<MeasuredRun>& runs,
                                                       const StepConstants& estimates, int threads,
                                                       const Progress& progress);

/// Spreads between and within setups, robust: medians of absolute deviations; the rest of `start`.
OwnPrior fit_own_prior(const OwnPrior& start, const std::vector<TriedSetup>& setups);

/// Shares and errors of the others, means over the draws of the runs that are given.
struct OwnTrial {
  std::string name;
  std::size_t runs = 0;
  double without = 0, with = 0;                // median error
  double inside_without = 0, inside_with = 0;  // share inside the interval
  double width_without = 0, width_with = 0;    // median of high / low
};
struct OwnTrials {
  std::size_t given = 0, draws = 0;
  std::vector<OwnTrial> setups;
  OwnTrial all;  // medians over the setups, of shares means
};
/// Setups of at least `given` + 3 runs. The same draws whenever it is asked.
OwnTrials try_own_runs(const OwnPrior& prior, const std::vector<TriedSetup>& setups,
                       std::size_t given = 3, std::size_t draws = 200);

std::string to_text(const OwnTrials& trials);

}  // namespace headway
