#include "study/infer/search/best.hpp"

#include "study/infer/search/front.hpp"

namespace headway {

Result<BestOffers> best_offers(const Serving& base, const ServingConstants& constants,
                               const Load& asked, const SearchSpace& space,
                               std::int64_t accelerators, const Division& division, int threads,
                               const Progress& progress) {
  // All of them in closed form.
  const auto ways = ways_of_serving(base, constants, asked, space, accelerators, threads, progress);
  if (!ways) return Problem{"infer", "was stopped", Trouble::stopped};

  // What may be among the best, placed in time.
  const std::vector<std::size_t> worth = worth_placing(*ways, asked);
  const auto place = [&](std::size_t i) -> std::optional<Offer> {
    const ServingWay& way = (*ways)[worth[i]];
    Offer offer{serving_of_way(base, way), load_of_way(asked, way), {}, {}};
    offer.served = served(offer.serving, constants, offer.load, way.steps.get());
    const Served& by = offer.served;
    const bool held =
        are_held(by, offer.load.batch) && asked.keeps_to_limits(by.first_token, by.each_token);
    return held ? std::optional(std::move(offer)) : std::nullopt;
  };
  auto front = placed_front<Offer>(worth.size(), place, division, threads, progress);
  if (!front) return front.problems();
  BestOffers out{.front = std::move(front).value(), .tried = ways->size(), .placed = worth.size()};
  for (Offer& offer : out.front) {
    offer.intervals = intervals_of(offer.serving, constants, offer.load, offer.served);
  }
  return out;
}

}  // namespace headway
