#include "forecast/own_interval.hpp"

#include <cmath>

namespace headway {

// [OWN-2] The logs of both bounds, from the forecast, times the share that own runs leave of the
// width. What makes a forecast hard besides (distance, ranks, waiting) widens it as before.
void narrow_interval(const OwnSetup& own, Forecast& forecast) {
  if (!forecast.step_time_interval) return;
  for (Seconds* bound : {&forecast.step_time_interval->low, &forecast.step_time_interval->high}) {
    *bound = forecast.step_time * std::pow(*bound / forecast.step_time, own.interval);
  }
}

}  // namespace headway
