// The highest rate of requests of which a share keeps to limits.
#pragma once

#include "study/infer/apart.hpp"

namespace headway {

/// Requests that are placed in time at each rate, where the load does not say: so many that the
/// first ones, which find nobody there, do not count.
constexpr std::int64_t kRequestsAtARate = 10'000;

/// [INFER-17] Requests a second to each copy of attention, at random moments, of which `share` are
/// answered within the load's limits; 0: not even single ones are. To 1 %.
double rate_within(const Serving& serving, const ServingConstants& constants, const Load& load,
                   double share);
/// To all copies.
double rate_within(const ServingApart& apart, const ServingConstants& constants, const Load& load,
                   double share);

}  // namespace headway
