// predict: one run to its forecast.
#pragma once

#include "forecast/forecast.hpp"
#include "run/run.hpp"

namespace headway {

/// Loads the calibration of the run's cluster and prices the run.
Result<Forecast> predict(const Run& run);

}  // namespace headway
