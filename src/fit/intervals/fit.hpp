// How well the constants of whole steps predict what they were not fitted on, and the intervals
// that follow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "fit/statistics.hpp"
#include "fit/steps/fit.hpp"
#include "forecast/intervals/intervals.hpp"
#include "platform/parallel.hpp"

namespace headway {

/// The errors of the step times of a group of runs by constants fitted on everything, and by
/// constants fitted without the group.
struct Generalisation {
  std::string name;
  std::size_t rows = 0;
  ErrorSummary fitted, left_out;
  std::optional<double> coverage;  // share of the runs inside the interval made without the group
};

struct IntervalFit {
  IntervalModel model;
  std::vector<Generalisation> classes;  // of sources: those that a vendor tuned, all
  std::vector<Generalisation> sources, accelerators;
};

/// Leaves out every source, then every accelerator, fits the constants to the rest and predicts
/// what was left out. Nothing where `progress` stops it. Some 30 fits: minutes.
std::optional<IntervalFit> fit_intervals(const std::vector<MeasuredRun>& runs,
                                         const StepConstants& estimates, int threads = 0,
                                         const Progress& progress = {});

/// The sources whose tables hold their vendor's best layouts.
bool is_tuned(std::string_view source);

/// A table for a terminal.
std::string to_text(const IntervalFit& fit);

/// The text of data/calibration/intervals.toml, and what it says. `date` as 2026-11-21.
std::string to_toml(const IntervalFit& fit, const std::string& date);
Result<IntervalFit> interval_fit_from(const Document& document);
const Result<IntervalFit>& embedded_interval_fit();

}  // namespace headway
