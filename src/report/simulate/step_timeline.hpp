// The timeline of a simulated step as JSON, for who draws it: a column for each property of its
// spans. Internal to src/report/simulate.
#pragma once

#include <cstdint>

#include "report/json/writer.hpp"
#include "simulate/step/simulated.hpp"

namespace headway {

/// The spans of each stage, what each waited for and whether it lies on the critical path. What
/// slots run is told once for all that run the same: their kernels and calls from the slot's
/// beginning. Seconds are rounded to a nanosecond.
void write_step_timeline(JsonWriter& out, const SimulatedStep& step);

}  // namespace headway
