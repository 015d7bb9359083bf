// Policies that try a choice before they make it.
#pragma once

#include <span>

#include "study/jobs/stream.hpp"

namespace headway {

/// [JOBS-9] Exhaustive look-ahead: of all choices for these jobs, the first now and the others when
/// they come, those that block the fewest, then hold the fewest server-seconds after the last of
/// them has come. The jobs are known: it is a bound for policies that cannot see the next arrivals.
int looked_ahead(const JobCluster& cluster, std::span<const JobArrival> jobs);

/// [JOBS-10] Rollout: each choice for this job is followed by `cheapest`, and by `shortest`, on the
/// same drawn futures; the choice that blocks the fewest by the better of both (parallel rollout,
/// Chang, Givan and Chong 2004), then holds the fewest server-seconds after the last. What comes is
/// known by its law alone.
int rolled_out(const JobPolicy& policy, const JobCluster& cluster, const JobArrival& job,
               const JobLaw& law, SplitMix& random);

}  // namespace headway
