// A pipeline whose last stages stand on accelerators of another type.
#pragma once

#include <cstdint>

#include "forecast/forecast.hpp"

namespace headway {

/// A run as one of two machines runs its stages.
struct OnMachine {
  const Run& run;  // of all stages: both of one model, job and layout
  const Calibration& calibration;
};

/// [FORECAST-20] Prices a run of which the stages from `at` on stand on the far machine; both runs
/// are legal but for how many accelerators their machines have. 0 < at < pp. Pure. Memory, capacity
/// and gaps are of the rank with the least room; calls and their levels of the machine that sets
/// the pace (Forecast::pace_is_far).
Forecast forecast(const OnMachine& near, const OnMachine& far, std::int64_t at);

}  // namespace headway
