// The highest rate of requests of which a share keeps to limits.
#pragma once

#include "study/infer/apart.hpp"

namespace headway {

/// [INFER-17] Requests a second to each copy of attention, at random moments, of which `share` are
/// answered within the load's limits; 0: not even single ones are. To 1 %.
double rate_within(const Serving& serving, const ServingConstants& constants, const Load& load,
                   double share);
/// To all copies.
double rate_within(const ServingApart& apart, const ServingConstants& constants, const Load& load,
                   double share);

}  // namespace headway
