// Fits the constants of whole steps (cost/step_constants.hpp) on measured runs.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cost/calibration/step_constants.hpp"
#include "fit/statistics.hpp"
#include "fit/steps/data.hpp"

namespace headway {

/// A section of data/calibration/step.toml.
enum class StepSection : std::uint8_t { shared, framework, architecture, network };
constexpr std::array<std::string_view, 4> kStepSectionNames = {"shared", "framework",
                                                               "architecture", "network"};

/// An entry of a section with what its constants were fitted on.
struct FittedEntry {
  StepSection section = StepSection::shared;
  std::string name;  // "default": of the section as a whole
  std::size_t rows = 0;
  std::vector<std::string> sources;
  ErrorSummary error;  // of the step times of those rows
};

struct StepFit {
  StepConstants constants;
  std::vector<FittedEntry> entries;
  std::size_t parameters = 0;  // free ones
  double loss_before = 0, loss_after = 0;
  int evaluations = 0;
};

/// The fit, a maximum a posteriori estimate. A constant of a class lies at
///     estimate + (shift of its section + deviation of the class) · spread
/// where the spread is a fifth of its bounds' range, or a factor of two where they span a decade.
/// Deviations have unit variance a priori, shifts a quarter of it: what the runs of a class cannot
/// determine stays with its section, what no run determines with the estimate.
/// ln(predicted/measured) counts by a smooth robust loss, quadratic below a tenth; the n runs of a
/// source count as the root of n, for they share their conditions. NLopt's SLSQP with gradients by
/// differences; deterministic, whatever `threads` (0: one a core). `most_rounds`: the search is
/// started anew from where it stopped while that gains; one round comes within some 5 % of the
/// least loss.
StepFit fit_steps(const std::vector<MeasuredRun>& runs, const StepConstants& estimates,
                  int threads = 0, int most_rounds = 6);

/// A table for a terminal.
std::string to_text(const StepFit& fit);

/// The text of data/calibration/step.toml. `date` as 2026-11-21.
std::string to_toml(const StepFit& fit, const std::string& date);

/// The text `before` of that file with the entries of these names ("framework.jax") as in `fitted`,
/// the others as they were; or which names are not in both.
Result<std::string> renewed_entries(std::string_view before, std::string_view fitted,
                                    std::span<const std::string> names);

}  // namespace headway
