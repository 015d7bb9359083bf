// The best ways of serving a model with prefill and decode on accelerators of their own.
#pragma once

#include "platform/shard.hpp"
#include "study/bounds/bounds.hpp"
#include "study/infer/intervals/intervals.hpp"
#include "study/infer/search/ways.hpp"

namespace headway {

struct ApartOffer {
  ServingApart apart;
  Load load;
  ServedApart served{};
  ServedIntervals intervals{};
  BoundShares bounds{};  // of the part that answers fewest

  double of_user() const {  // tokens/s, as Offer has it
    const Served& all = served.all;
    return 1 / (load.output > 1 ? all.each_token : all.latency).value();
  }
  double of_accelerator() const {
    return served.all.output_per_second / static_cast<double>(apart.ranks());
  }
};

struct BestApart {
  std::vector<ApartOffer> front;            // as BestOffers has it
  std::size_t tried = 0;                    // ways in closed form: splits, copies and clients
  std::size_t placed = 0;                   // of them, in time
  std::optional<std::int64_t> would_fit{};  // where none fits: accelerators of which some way does
};

/// Every legal split of a copy of as many accelerators as divide `accelerators`, in every format
/// and with steps of every size, for prefill and for decode (but for copies that another beats at
/// every load), every number of copies of each that together make so many, with 1, 2, 4, ...
/// clients until no more are answered: in closed form [INFER-19]; the best of them are placed in
/// time. `division`: as best_offers() has it. A problem where the search was stopped.
Result<BestApart> best_apart(const Serving& base, const ServingConstants& constants,
                             const Load& asked, const SearchSpace& space, std::int64_t accelerators,
                             bool streamed, const Division& division, int threads,
                             const Progress& progress);

/// Clients of all copies, and what they get in closed form [INFER-19].
struct ClientsApart {
  std::int64_t clients = 0;
  Fluid closed;
  double rate = 0;  // requests a second, with the way in and out of `way` seconds
};
/// 1, 2, 4, ... of them, until nearly as many are answered as can be, and `most` at most.
std::vector<ClientsApart> clients_apart(const Apart& apart, const Load& asked, double way,
                                        double most);

/// As enough_accelerators(): the first number of accelerators of which some division into copies of
/// prefill, which hold a prompt, and of decode, which hold a whole sequence, fits.
std::optional<std::int64_t> enough_accelerators_apart(const Serving& base, const Load& asked,
                                                      const SearchSpace& space,
                                                      std::int64_t accelerators);

}  // namespace headway
