// How tokens spread over experts and their ranks.
#pragma once

#include <cstdint>
#include <vector>

namespace headway {

/// The i-th of the experts in the order of how often they are chosen is chosen i^-power as often as
/// the first; 0: all alike. `redundant`: copies of the busiest, placed so that ranks are even;
/// of one rank none.
struct Routing {
  double power = 0;
  std::int64_t redundant = 0;

  bool operator==(const Routing&) const = default;
};

/// [INFER-3] Of routers of which nothing is said (data/serving/routing.toml, fitted).
double usual_imbalance();

/// [INFER-3] The chance that one token chooses each of `experts`, the busiest first: as i^-power,
/// at most 1, `active` together.
std::vector<double> chances_of(const Routing& routing, std::int64_t experts, std::int64_t active);

/// [INFER-3] Of `experts` those that at least one of `tokens` chooses.
double chosen_experts(const Routing& routing, std::int64_t experts, std::int64_t active,
                      double tokens);

/// [INFER-3] Tokens of the fullest of `ranks` over their mean. Without copies experts lie on ranks
/// by numbers that say nothing of how busy they are: the mean of many such orders. With them the
/// busiest, again and again, are split in one copy more, and all are placed, the busiest first, on
/// the rank with least to do that has a place.
double fullest_over_mean(const Routing& routing, std::int64_t experts, std::int64_t active,
                         std::int64_t ranks);

}  // namespace headway
