// What a method costs in loss, by what is known of it. Internal to src/study/convergence.
#pragma once

#include "study/convergence/sites.hpp"
#include "study/laws/local_updates.hpp"
#include "study/laws/penalties.hpp"

namespace headway {

/// All that is published of losses of methods.
struct PublishedLosses {
  LocalUpdateLaws laws;
  std::vector<MeasuredPenalty> measured;
};
Result<PublishedLosses> published_losses();

struct LossCase {
  const Method& method;
  std::int64_t sites = 1;
  double parameters = 0, steps = 0;
  std::optional<double> transient;  // steps, of neighbours [LAW-9]
};
/// Loss over that of synchronous training, and where it is from: the user's, a measured one, and
/// where the question extrapolates a fitted law or theory; else none, and why.
Penalty loss_penalty(const LossCase& of, const SitesQuestion& question,
                     const PublishedLosses& published);

}  // namespace headway
