// The best ways of serving a model on a number of accelerators.
#pragma once

#include <vector>

#include "platform/shard.hpp"
#include "study/bounds/bounds.hpp"
#include "study/infer/intervals/intervals.hpp"
#include "study/infer/search/ways.hpp"

namespace headway {

/// One way of serving, and what clients get of it.
struct Offer {
  Serving serving;
  Load load;
  Served served{};
  ServedIntervals intervals{};
  BoundShares bounds{};  // of the time that a request costs; of those of a front

  /// Tokens/s: after the first; of answers of one token, which have no other, with the first.
  double of_user() const {
    return 1 / (load.output > 1 ? served.each_token : served.latency).value();
  }
  double of_accelerator() const {
    return served.output_per_second / static_cast<double>(serving.ranks());
  }
};

struct BestOffers {
  /// Within the limits in the mean, and no other is as fast for a user and makes as much of an
  /// accelerator: the fastest for a user first, the cheapest last.
  std::vector<Offer> front;
  std::size_t tried = 0;                    // ways in closed form that are legal and fit
  std::size_t placed = 0;                   // of them, in time
  std::optional<std::int64_t> would_fit{};  // where none fits: accelerators of which some way does
};

/// Every way that ways_of_serving() knows, in closed form, and those of them that may be among the
/// best placed in time. `asked`: lengths and limits. `division`: of what is placed; a part alone
/// has no front. A problem where the search was stopped.
Result<BestOffers> best_offers(const Serving& base, const ServingConstants& constants,
                               const Load& asked, const SearchSpace& space,
                               std::int64_t accelerators, const Division& division, int threads,
                               const Progress& progress);

}  // namespace headway
