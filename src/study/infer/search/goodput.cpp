#include "study/infer/search/goodput.hpp"

#include "study/infer/steps.hpp"

namespace headway {
namespace {

// `answer`: what is served at a rate.
template <class Answer>
double highest(const Load& asked, double share, const Answer& answer) {
  Load load = asked;
  load.arrivals = Arrivals::random;
  if (load.count == 0) load.count = kRequestsAtARate;
  const auto keeps = [&](double rate) {
    load.rate = rate;
    const Served by = answer(load);
    return by.fits && by.stable() && by.good.value_or(0) >= share;
  };
  // One request at a time, and beyond what can be answered.
  double low = 1e-6, high = 1;
  if (!keeps(low)) return 0;
  while (high < 1e9 && keeps(high)) high *= 4;
  while (high > 1.01 * low) {
    const double middle = low < high / 4 ? high / 4 : (low + high) / 2;
    (keeps(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

double rate_within(const Serving& serving, const ServingConstants& constants, const Load& load,
                   double share) {
  const StepTimes steps = step_times(serving, constants, load.input, load.output);
  return highest(load, share,
                 [&](const Load& at) { return served(serving, constants, at, &steps); });
}

double rate_within(const ServingApart& apart, const ServingConstants& constants, const Load& load,
                   double share) {
  return highest(load, share, [&](const Load& at) { return served(apart, constants, at).all; });
}

}  // namespace headway
