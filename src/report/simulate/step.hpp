// simulate RUN: a step placed in time, beside its forecast.
#pragma once

#include <string>

#include "forecast/forecast.hpp"
#include "layout/run.hpp"
#include "report/simulate/ranks.hpp"
#include "simulate/calls/choices.hpp"
#include "simulate/step/simulated.hpp"

namespace headway {

/// For a terminal of 80 columns. `chosen`: calls by named algorithms.
std::string simulate_step_text(const Run& run, const Forecast& forecast,
                               const SimulatedStep& simulated, const RanksAnswer& ranks,
                               const std::vector<ChosenCall>& chosen = {});
/// With `timeline` everything in its place is in it.
std::string simulate_step_json(const Run& run, const Forecast& forecast,
                               const SimulatedStep& simulated, const RanksAnswer& ranks,
                               const std::vector<ChosenCall>& chosen = {}, bool timeline = false);

/// How much there is of a timeline: the spans of all stages, and what each program of slots runs.
std::int64_t count_timeline_rows(const SimulatedStep& simulated);
constexpr std::int64_t kMostTimelineRows = 200'000;  // some 70 bytes each

}  // namespace headway
