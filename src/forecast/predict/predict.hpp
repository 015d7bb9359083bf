// predict: the forecast of a run with the constants of its cluster, its interval, and what is to be
// said of it.
#pragma once

#include "cost/calibration/kept.hpp"
#include "forecast/forecast.hpp"
#include "run/run.hpp"

namespace headway {

/// Of a legal run (check() found nothing); problems: no calibration for the cluster.
Result<Forecast> predict(const Run& run);
/// The same where stages may stand on another machine: the interval is the wider of both machines'.
Result<Forecast> predict(const RequestedRun& run);

/// All of that but what is said of it, for who asks for the numbers of many runs.
Result<Forecast> predict_numbers(const RequestedRun& run, KeptCalibration& kept);
/// Says it: predict() is predict_numbers() and this.
void add_notes(const RequestedRun& run, Forecast& forecast);

}  // namespace headway
