#include "study/infer/search/goodput.hpp"

#include <cmath>
#include <limits>

#include "study/infer/steps.hpp"
#include "study/infer/summary.hpp"

namespace headway {
namespace {

Load at_random(const Load& asked) {
  Load load = asked;
  load.arrivals = Arrivals::random;
  if (load.count == 0) load.count = kRequestsAtARate;
  return load;
}

// `keeps`: whether a rate is within the limits; none is that is above `most`.
template <class Keeps>
double highest(const Keeps& keeps, double most) {
  constexpr double kAlone = 1e-6, kClose = 1.01;  // one request at a time; and near enough
  double low = kAlone, high = 1;
  if (std::isfinite(most)) {
    high = most / kClose;
    if (keeps(high)) return high;
  } else {
    for (; high < 1e9 && keeps(high); high *= 4) low = high;
  }
  while (high > kClose * low) {
    const double middle = low < high / 4 ? high / 4 : (low + high) / 2;
    (keeps(middle) ? low : high) = middle;
  }
  return low > kAlone || keeps(low) ? low : 0;
}

}  // namespace

double rate_within(const Serving& serving, const ServingConstants& constants, const Load& load,
                   double share) {
  const StepTimes steps = step_times(serving, constants, load.input, load.output);
  const ServingMemory memory = memory_of(serving, load);
  const double most = memory.sequences_that_fit(load.under_way());
  if (most < 1) return 0;
  const Engined engine = engine_of(serving, steps, serving.engine.policy, memory, load);
  Load at = at_random(load);
  const auto keeps = [&](double rate) {
    at.rate = rate;
    return share_within(answered(engine, at), at, serving.engine.request) >= share;
  };
  return highest(keeps, capacity_of(serving, engine, at, most));
}

double rate_within(const ServingApart& apart, const ServingConstants& constants, const Load& load,
                   double share) {
  Load at = at_random(load);
  const auto keeps = [&](double rate) {
    at.rate = rate;
    const Served by = served(apart, constants, at).all;
    return by.fits && by.stable() && by.good.value_or(0) >= share;
  };
  return highest(keeps, std::numeric_limits<double>::infinity());
}

}  // namespace headway
