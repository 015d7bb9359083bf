// Measured runs predicted by constants that did not see their source, their accelerator or their
// framework.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fit/steps/descent.hpp"
#include "forecast/forecast.hpp"
#include "platform/parallel.hpp"

namespace headway {

/// Forecasts of runs, in their order: by the embedded constants, and by constants fitted on the
/// runs of other sources, of other accelerators and of other frameworks.
struct LeftOutForecasts {
  std::vector<Forecast> fitted, by_source, by_accelerator, by_framework;
};

/// One fit for all runs and one, from where that ended, for each source, accelerator and
/// framework. Nothing
/// where `progress` stops it.
std::optional<LeftOutForecasts> leave_out(const std::vector<MeasuredRun>& runs,
                                          const StepConstants& estimates, int threads = 0,
                                          const Progress& progress = {});

/// A line for each run with a measured time: times, parts of the forecast that did not see its
/// source, and what makes it hard.
std::string to_csv(const std::vector<MeasuredRun>& runs, const LeftOutForecasts& left_out);

}  // namespace headway
