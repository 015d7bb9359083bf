// What follows from the parts of a step: its rates, and its memory against what there is.
#pragma once

#include "forecast/assembly.hpp"
#include "forecast/forecast.hpp"

namespace headway {

/// Step time, tokens/s and what of the peak they are, and the least time. `peak`: of an
/// accelerator, the mean where they differ.
void add_rates(const Run& run, const Step& step, FlopsPerSecond peak, Forecast& out);

/// What the fullest rank holds of its accelerator's memory, and whether that fits.
void add_memory(const HeldMemory& memory, const Run& run, const Calibration& calibration,
                Forecast& out);

}  // namespace headway
