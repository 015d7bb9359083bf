// scale run: a whole training run.
#pragma once

#include <string>
#include <vector>

#include "platform/output.hpp"
#include "study/lifetime/whole_run.hpp"

namespace headway {

/// For a terminal of 80 columns.
std::string scale_run_text(const WholeRun& whole, const ScaledRuns& scaled);
std::string scale_run_json(const WholeRun& whole, const ScaledRuns& scaled);
/// The series over accelerators.
std::string scale_run_csv(const ScaledRuns& scaled);
/// In `folder`: goodput.svg, goodput by the interval between checkpoints; days.svg, days by
/// accelerators, with what failures leave open.
std::vector<OutputFile> scale_run_plots(const WholeRun& whole, const ScaledRuns& scaled,
                                        const std::string& folder);

}  // namespace headway
