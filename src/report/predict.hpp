// predict: a run and its forecast, as JSON and as text for people.
#pragma once

#include <string>

#include "forecast/forecast.hpp"
#include "run/run.hpp"

namespace headway {

/// One JSON document with the fields of DESIGN §6; SI units, the unit in each name.
/// With `timeline` the slots of its pipeline are among them.
std::string predict_json(const RequestedRun& run, const Forecast& forecast, bool timeline = false);

/// Two lines that say what is run, and how.
std::string run_heading(const Run& run);

/// A table for a terminal of 80 columns.
std::string predict_text(const RequestedRun& run, const Forecast& forecast);

}  // namespace headway
