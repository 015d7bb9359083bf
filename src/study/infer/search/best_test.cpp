// What the search for the best ways of serving promises of its front.
#include "study/infer/search/best.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

using testing::constants_of;
using testing::serving_of;

// Every way by itself: of the best none is beaten in both, and each way is beaten or equalled by
// one of them.
TEST(BestOffers, AreThoseThatNoOtherBeatsInBoth) {
  const Serving base = serving_of("llama-3-8b", "dgx-h100");
  const ServingConstants constants = constants_of(base);
  const Load asked{.input = 1000, .output = 200};
  const auto best = best_offers(base, constants, asked, {}, 4, {}, 2, {});
  ASSERT_TRUE(best);
  ASSERT_FALSE(best->front.empty());
  for (std::size_t i = 1; i < best->front.size(); ++i) {
    EXPECT_LT(best->front[i].of_user(), best->front[i - 1].of_user());
    EXPECT_GT(best->front[i].of_accelerator(), best->front[i - 1].of_accelerator());
  }
  for (const auto& [tp, dp] : {std::pair(1, 4), {2, 2}, {4, 1}}) {
    for (const std::int64_t clients : {1, 8, 64}) {
      Serving one = base;
      one.tp = tp;
      one.dp = dp;
      Load load = asked;
      load.arrivals = Arrivals::clients;
      load.batch = clients;
      const Served answer = served(one, constants, load);
      const double user = 1 / answer.each_token.value(), each = answer.output_per_second / 4;
      EXPECT_TRUE(std::any_of(best->front.begin(), best->front.end(),
                              [&](const Offer& offer) {
                                return offer.of_user() >= user && offer.of_accelerator() >= each;
                              }))
          << tp << " " << clients;
    }
  }
}

// Shares of all that binds add up, and follow the machine: one client waits for weights and for
// what starts kernels, many share both, and compute takes over where prompts are most of the work.
TEST(BestOffers, SayWhatBindsThem) {
  const Serving base = serving_of("llama-3-8b", "dgx-h100");
  const ServingConstants constants = constants_of(base);
  const auto best = best_offers(base, constants, {.input = 4000, .output = 50}, {}, 1, {}, 1, {});
  ASSERT_TRUE(best);
  ASSERT_GE(best->front.size(), 2U);
  for (const Offer& offer : best->front) {
    double all = 0;
    for (const double share : offer.bounds) all += share;
    EXPECT_NEAR(all, 1, 1e-6);
  }
  const auto share = [&](const Offer& offer, Bound bound) {
    return offer.bounds[static_cast<std::size_t>(bound)];
  };
  const Offer &one = best->front.front(), &many = best->front.back();
  EXPECT_GT(share(one, Bound::memory), share(many, Bound::memory));
  EXPECT_EQ(most_of(many.bounds), Bound::compute);
  EXPECT_EQ(share(one, Bound::network), 0);  // it has no other
}

TEST(BestOffers, KeepToTheLimits) {
  const Serving base = serving_of("llama-3-8b", "dgx-h100");
  const ServingConstants constants = constants_of(base);
  Load asked{.input = 1000, .output = 200};
  asked.each_limit = Seconds(8e-3);
  const auto best = best_offers(base, constants, asked, {}, 2, {}, 1, {});
  ASSERT_TRUE(best);
  ASSERT_FALSE(best->front.empty());
  for (const Offer& offer : best->front) EXPECT_LE(offer.served.each_token, Seconds(8e-3));
  asked.each_limit = Seconds(1e-6);
  EXPECT_TRUE(best_offers(base, constants, asked, {}, 2, {}, 1, {})->front.empty());
}

// An answer of one token has none after the first: its user gets one token in the whole time.
// The mean of first tokens hides those that wait for the prompts of others: of 99 of 100 fewer ways
// keep to a limit.
TEST(BestOffers, KeepToTheLimitsWithAsManyAnswersAsAreAskedFor) {
  const Serving base = serving_of("llama-3-8b", "dgx-h100");
  const ServingConstants constants = constants_of(base);
  Load asked{.input = 1000, .output = 200};
  asked.first_limit = Seconds(0.3);
  const auto in_the_mean = best_offers(base, constants, asked, {}, 2, {}, 1, {});
  asked.good_share = 0.99;
  const auto of_most = best_offers(base, constants, asked, {}, 2, {}, 1, {});
  ASSERT_TRUE(in_the_mean && of_most);
  ASSERT_FALSE(of_most->front.empty());
  const auto good = [](const Offer& offer) { return *offer.served.good >= 0.99; };
  EXPECT_TRUE(std::all_of(of_most->front.begin(), of_most->front.end(), good));
  EXPECT_FALSE(std::all_of(in_the_mean->front.begin(), in_the_mean->front.end(), good));
}

TEST(BestOffers, OfAnswersOfOneTokenAreAsFastAsThatTokenComes) {
  const Serving base = serving_of("llama-3-8b", "dgx-h100");
  const auto best =
      best_offers(base, constants_of(base), {.input = 1000, .output = 1}, {}, 2, {}, 1, {});
  ASSERT_TRUE(best);
  ASSERT_FALSE(best->front.empty());
  for (const Offer& offer : best->front) {
    EXPECT_NEAR(offer.of_user() * offer.served.latency.value(), 1, 1e-12);
  }
}

}  // namespace
}  // namespace headway
