#include "study/infer/search/best.hpp"

#include <algorithm>

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
    // Who waits outside makes nothing faster.
    if (!offer.served.fits || offer.served.sequences < static_cast<double>(clients) / 2) return out;
    const auto keeps = [](const std::optional<Seconds>& limit, Seconds time) {
      return !limit || time <= *limit;
    };
    offer.within = keeps(asked.first_limit, offer.served.first_token) &&
                   keeps(asked.each_limit, offer.served.each_token);
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
  std::vector<Offer> offers;
  for (std::vector<Offer>& each : found) {
    std::move(each.begin(), each.end(), std::back_inserter(offers));
  }
  // The fastest for a user first; of equals what makes most of an accelerator.
  std::stable_sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) {
    if (a.of_user() != b.of_user()) return a.of_user() > b.of_user();
    return a.of_accelerator() > b.of_accelerator();
  });
  BestOffers out;
  out.tried = offers.size();
  double most = 0;
  for (Offer& offer : offers) {
    // With limits the front is of those that keep to them.
    if (!offer.within || offer.of_accelerator() <= most) continue;
    most = offer.of_accelerator();
    out.front.push_back(std::move(offer));
  }
  return out;
}

}  // namespace headway
