#include "study/infer/search/best.hpp"

#include <algorithm>

#include "study/infer/search/front.hpp"
#include "study/infer/search/splits.hpp"
#include "study/infer/steps.hpp"

namespace headway {
namespace {

constexpr std::int64_t kMostClients = 1024;

// One split with ever more clients, until memory holds no more of them.
std::vector<Offer> offers_of(const Serving& serving, const ServingConstants& constants,
                             const Load& asked) {
  std::vector<Offer> out;
  if (!(memory_of(serving, asked.input + asked.output).cached_tokens > 0)) return out;
  const StepTimes steps = step_times(serving, constants, asked.input, asked.output);
  for (std::int64_t clients = 1; clients <= kMostClients; clients *= 2) {
    Offer offer{serving, asked, {}};
    offer.load.arrivals = Arrivals::clients;
    offer.load.batch = clients;
    offer.served = served(serving, constants, offer.load, &steps);
    if (!are_held(offer.served, clients)) return out;
    out.push_back(std::move(offer));
  }
  return out;
}

}  // namespace

std::optional<BestOffers> best_offers(const Serving& base, const ServingConstants& constants,
                                      const Load& asked, std::int64_t accelerators, int threads,
                                      const Progress& progress) {
  const std::vector<ServingSplit> all = legal_splits(base, accelerators);
  std::vector<std::vector<Offer>> found(all.size());
  const bool whole = for_each_index(
      all.size(), threads,
      [&](std::size_t i, std::size_t) {
        Serving serving = base;
        static_cast<ServingSplit&>(serving) = all[i];
        found[i] = offers_of(serving, constants, asked);
      },
      progress, 1);
  if (!whole) return std::nullopt;
  BestOffers out;
  std::vector<Offer> within;
  for (std::vector<Offer>& each : found) {
    out.tried += each.size();
    std::copy_if(std::move_iterator(each.begin()), std::move_iterator(each.end()),
                 std::back_inserter(within), [&](const Offer& offer) {
                   return keeps_to_limits(asked, offer.served.first_token, offer.served.each_token);
                 });
  }
  out.front = front_of(std::move(within));
  return out;
}

}  // namespace headway
