// One's own calibration: what measured steps say of each of their setups.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fit/own/runs.hpp"
#include "fit/own/shrink.hpp"

namespace headway {

/// A field of the runs that would explain their times, were it another than was said.
struct OwnExplanation {
  std::string field;              // as a flag: "--unfused", "--overlap-gradients off"
  std::string_view says;          // "norms, activation, rotary and dropout look unfused"
  std::vector<double> residuals;  // of the runs, with it
  double gain = 0;                // of log_evidence
};

/// The runs of one setup.
struct OwnSetupFit {
  OwnSetup said;
  Shrunk shrunk;
  std::vector<std::string> names;  // of the runs
  std::vector<Seconds> measured, predicted;
  std::vector<double> residuals;
  std::vector<OwnExplanation> explanations;  // the best first
};

struct OwnFit {
  std::vector<OwnSetupFit> setups;  // in the order in which the runs name them
  Problems unused;                  // runs that say nothing
};

OwnFit fit_own_runs(const OwnPrior& prior, OwnRunsRead read);

/// The fields that would explain the residuals of the runs of one setup: those that bring them to 0
/// and to each other so much that they are twice as likely [OWN-3].
std::vector<OwnExplanation> explanations(const OwnPrior& prior, const std::vector<OwnRun>& runs);

std::string to_text(const OwnFit& fit);
/// The file that --calibration reads. `files`: what was read; `date` as 2026-11-21.
std::string to_toml(const OwnFit& fit, const std::vector<std::string>& files,
                    const std::string& date);

}  // namespace headway
