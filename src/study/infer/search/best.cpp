#include "study/infer/search/best.hpp"

#include <algorithm>

#include "study/infer/search/front.hpp"

namespace headway {

std::optional<BestOffers> best_offers(const Serving& base, const ServingConstants& constants,
                                      const Load& asked, const SearchSpace& space,
                                      std::int64_t accelerators, int threads,
                                      const Progress& progress) {
  // All of them in closed form.
  const auto ways = ways_of_serving(base, constants, asked, space, accelerators, threads, progress);
  if (!ways) return std::nullopt;

  // What may be among the best, placed in time.
  const std::vector<std::size_t> worth = worth_placing(*ways, asked);
  std::vector<Offer> placed(worth.size());
  const bool whole = for_each_index(
      worth.size(), threads,
      [&](std::size_t i, std::size_t) {
        const ServingWay& way = (*ways)[worth[i]];
        Offer& offer = placed[i];
        offer = {serving_of_way(base, way), load_of_way(asked, way), {}, {}};
        offer.served = served(offer.serving, constants, offer.load, way.steps.get());
      },
      progress, 1);
  if (!whole) return std::nullopt;

  BestOffers out{.front = {}, .tried = ways->size(), .placed = placed.size()};
  std::erase_if(placed, [&](const Offer& offer) {
    const Served& by = offer.served;
    return !are_held(by, offer.load.batch) || !asked.keeps_to_limits(by.first_token, by.each_token);
  });
  out.front = front_of(std::move(placed));
  for (Offer& offer : out.front) {
    offer.intervals = intervals_of(offer.serving, constants, offer.load, offer.served);
  }
  return out;
}

}  // namespace headway
