// What many requests come to. Internal to src/study/infer.
#pragma once

#include "study/infer/serving.hpp"

namespace headway {

Drafting drafting_of(const Serving& serving);

/// Means, quantiles and tokens a second of requests that were placed in time; `way`: of a client
/// into the engine and out again.
void summarise(Served& out, const Answered& by, const Load& load, Seconds way);

/// The decode pass of so many sequences of a copy of attention, and the guesses beside it.
void decode_pass(Served& out, const Serving& serving, const ServingConstants& constants,
                 const Load& load, double sequences);

}  // namespace headway
