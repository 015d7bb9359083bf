#include "study/sweep/crossover.hpp"

#include <algorithm>

namespace headway {
namespace {

// As many sequences for each accelerator as in the base run, on n of them.
Result<RequestedRun> at_scale(const RequestedRun& base, std::int64_t accelerators) {
  const auto pure = with_degrees(base, {});
  return pure ? with_accelerators(*pure, accelerators, BatchRule::of_a_rank) : pure;
}

// The fastest of the layouts that can run there.
std::optional<SweepPoint> fastest(const RequestedRun& run, const std::vector<Degrees>& layouts,
                                  const SweepSettings& settings) {
  std::optional<SweepPoint> best;
  for (const Degrees& d : layouts) {
    const SweepCase at = {std::to_string(run.layout.ranks()),
                          static_cast<double>(run.layout.ranks()), with_degrees(run, d)};
    auto point = sweep_point(at, settings);
    if (point && (!best || point->forecast.tokens_per_second > best->forecast.tokens_per_second)) {
      best = std::move(point).value();
    }
  }
  return best;
}

}  // namespace

// [SCALE-25] Doubling brackets the change, bisection closes the bracket to one unit. Exact where
// the property changes once between two doublings; where it changes more often, one of the changes.
std::optional<std::int64_t> first_where(std::int64_t low, std::int64_t high, std::int64_t unit,
                                        const std::function<bool(std::int64_t)>& holds) {
  std::int64_t below = 0, here = low;
  while (!holds(here)) {
    if (here >= high) return std::nullopt;
    below = here;
    here = std::min(2 * here, high);
  }
  if (below == 0) return here;
  while (here - below > unit) {
    const std::int64_t middle = below + (here - below) / unit / 2 * unit;
    (holds(middle) ? here : below) = middle;
  }
  return here;
}

std::optional<Crossover> crossover(std::int64_t low, std::int64_t high, std::int64_t unit,
                                   const BothOn& both_on) {
  // The fewest accelerators on which both can run.
  const auto runs = first_where(low, high, unit, [&](std::int64_t n) { return !!both_on(n); });
  if (!runs) return std::nullopt;
  const auto ahead = [&](std::int64_t accelerators) {
    const auto both = both_on(accelerators);
    return both && both->split.forecast.tokens_per_second > both->pure.forecast.tokens_per_second;
  };
  const auto found = first_where(*runs, high, unit, ahead);
  if (!found) return std::nullopt;
  auto out = both_on(*found);
  out->at_once = *found == *runs;
  return out;
}

std::optional<Crossover> crossover(const RequestedRun& base, std::int64_t low, std::int64_t high,
                                   std::int64_t unit, const std::vector<Degrees>& split,
                                   const SweepSettings& settings) {
  return crossover(low, high, unit, [&](std::int64_t accelerators) -> std::optional<Crossover> {
    const auto run = at_scale(base, accelerators);
    if (!run) return std::nullopt;
    auto pure = fastest(*run, {Degrees{}}, settings);
    auto best = fastest(*run, split, settings);
    if (!pure || !best) return std::nullopt;
    return Crossover{accelerators, std::move(*pure), std::move(*best), false};
  });
}

}  // namespace headway
