// The interval of a forecast whose setup one's own runs were measured in.
#pragma once

#include "forecast/forecast.hpp"

namespace headway {

/// Narrows the interval of the step time, where there is one, to what own runs leave of it [OWN-2].
void narrow_interval(const OwnSetup& own, Forecast& forecast);

}  // namespace headway
