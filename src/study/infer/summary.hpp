// What many requests come to. Internal to src/study/infer.
#pragma once

#include "study/infer/serving.hpp"

namespace headway {

Drafting drafting_of(const Serving& serving);

/// So many copies of attention of it as one engine, as requests of the load see it [INFER-21]: room
/// in tokens, states of sequences as if they were some more of each. Of values that must outlive
/// it.
Engined engine_of(const Serving& serving, const StepTimes& steps, const Policy& policy,
                  const ServingMemory& memory, const Load& load, double copies = 1);

/// Random requests a second that one copy of attention answers at most: with as many there at any
/// time as its memory holds, `most` of them.
double capacity_of(const Serving& serving, const Engined& engine, const Load& load, double most);

/// Of requests that were placed in time the share that keep to the load's limits; `way` as below.
double share_within(const Answered& by, const Load& load, Seconds way);

/// Means, quantiles and tokens a second of requests that were placed in time; `way`: of a client
/// into the engine and out again; `keeps_up`: as many random ones are answered as come, for sure.
void summarise(Served& out, const Answered& by, const Load& load, Seconds way, bool keeps_up);

/// The decode pass of so many sequences of a copy of attention, and the guesses beside it.
void decode_pass(Served& out, const Serving& serving, const ServingConstants& constants,
                 const Load& load, double sequences);

}  // namespace headway
