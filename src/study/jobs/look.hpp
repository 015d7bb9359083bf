// Policies that try a choice before they make it.
#pragma once

#include <span>

#include "study/jobs/stream.hpp"

namespace headway {

/// [JOBS-9] Exhaustive look-ahead: of all choices for these jobs, the first now and the others when
/// they come, those that block the fewest and then hold the fewest server-seconds; the first of
/// them. The jobs are known: it is a bound for policies that cannot see the next arrivals.
int looked_ahead(const JobCluster& cluster, std::span<const JobArrival> jobs);

/// [JOBS-10] Rollout: each choice for this job is followed by `cheapest` on the same drawn futures;
/// the choice that blocks the fewest in all, then holds the fewest server-seconds. What comes is
/// known by its law alone.
int rolled_out(const JobPolicy& policy, const JobCluster& cluster, const JobArrival& job,
               const JobLaw& law, SplitMix& random);

}  // namespace headway
