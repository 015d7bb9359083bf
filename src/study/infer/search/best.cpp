#include "study/infer/search/best.hpp"

#include "study/infer/search/binding.hpp"
#include "study/infer/search/front.hpp"

namespace headway {
namespace {

// Ways placed in time.
class Placing {
 public:
  Placing(const Serving& base, const ServingConstants& constants, const Load& asked)
      : base_(base), constants_(constants), asked_(asked) {}

  // Nothing where it does not keep to the limits, or holds too few.
  std::optional<Offer> of(const ServingWay& way) const {
    return way.fills ? between(way) : with(way, way.clients);
  }

 private:
  std::optional<Offer> with(const ServingWay& way, std::int64_t clients) const {
    Offer offer{.serving = serving_of_way(base_, way), .load = load_of_way(asked_, way)};
    offer.load.batch = clients;
    offer.served = served(offer.serving, constants_, offer.load, way.steps.get());
    const Served& by = offer.served;
    const bool held = are_held(by, clients) && keeps_to_limits(asked_, by);
    return held ? std::optional(std::move(offer)) : std::nullopt;
  }

  // The most clients that keep to the limits, where not all do that are looked at.
  std::optional<Offer> between(const ServingWay& way) const {
    std::int64_t few = way.clients, many = 2 * way.clients;
    if (!with(way, few) || with(way, many)) return std::nullopt;
    std::optional<Offer> out;
    while (many - few > 1) {
      const std::int64_t middle = (few + many) / 2;
      std::optional<Offer> offer = with(way, middle);
      (offer ? few : many) = middle;
      if (offer) out = std::move(offer);
    }
    return out;
  }

  const Serving& base_;
  const ServingConstants& constants_;
  const Load& asked_;
};

}  // namespace

Result<BestOffers> best_offers(const Serving& base, const ServingConstants& constants,
                               const Load& asked, const SearchSpace& space,
                               std::int64_t accelerators, const Division& division, int threads,
                               const Progress& progress) {
  // All of them in closed form.
  const auto ways = ways_of_serving(base, constants, asked, space, accelerators, threads, progress);
  if (!ways) return Problem{"infer", "was stopped", Trouble::stopped};

  // What may be among the best, placed in time.
  const std::vector<std::size_t> worth = worth_placing(*ways, asked);
  const Placing placing(base, constants, asked);
  const auto place = [&](std::size_t i) { return placing.of((*ways)[worth[i]]); };
  auto front = placed_front<Offer>(worth.size(), place, division, threads, progress);
  if (!front) return front.problems();
  BestOffers out{.front = std::move(front).value(), .tried = ways->size(), .placed = worth.size()};
  if (ways->empty()) out.would_fit = enough_accelerators(base, asked, space, accelerators);
  for (Offer& offer : out.front) {
    offer.intervals = intervals_of(offer.serving, constants, offer.load, offer.served);
    offer.bounds = bound_shares(offer.serving, constants, offer.load, offer.served);
  }
  return out;
}

}  // namespace headway
