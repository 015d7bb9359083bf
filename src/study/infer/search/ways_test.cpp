// [INFER-30] The search for the best ways against all ways one by one.
#include "study/infer/search/ways.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "study/infer/search/best.hpp"
#include "study/infer/search/front.hpp"
#include "study/infer/serving_for_test.hpp"
#include "study/infer/steps.hpp"
#include "study/infer/summary.hpp"

namespace headway {
namespace {

using Degrees = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

// Every product of degrees up to `accelerators` that is legal, whatever divides what.
std::vector<Serving> all_splits(const Serving& base, std::int64_t accelerators) {
  std::vector<Serving> out;
  for (std::int64_t tp = 1; tp <= accelerators; ++tp)
    for (std::int64_t pp = 1; pp <= accelerators; ++pp)
      for (std::int64_t dp = 1; dp <= accelerators; ++dp)
        for (std::int64_t cp = 1; cp <= accelerators; ++cp)
          for (std::int64_t ep = 1; ep <= accelerators; ++ep) {
            Serving each = base;
            static_cast<ServingSplit&>(each) = {tp, pp, ep, dp, cp};
            if (each.ranks() == accelerators && check(each).empty()) out.push_back(each);
          }
  return out;
}

// In closed form, by the function that answers for one serving.
std::map<std::tuple<Degrees, std::string, std::int64_t, std::int64_t>, std::pair<double, double>>
one_by_one(const Serving& base, const ServingConstants& constants, const Load& asked,
           const std::vector<ServingFormats>& formats, std::int64_t accelerators) {
  std::map<std::tuple<Degrees, std::string, std::int64_t, std::int64_t>, std::pair<double, double>>
      out;
  for (Serving each : all_splits(base, accelerators)) {
    for (const ServingFormats& format : formats) {
      set_formats(each, format);
      for (const std::int64_t step : {256, 512, 1024, 2048, 4096, 8192, 16'384}) {
        each.engine.policy.most_tokens = step;
        const ServingMemory memory = memory_of(each, asked);
        const StepTimes steps = step_times(each, constants, asked.input, asked.output);
        const double context =
            static_cast<double>(asked.input) + static_cast<double>(asked.output) / 2;
        Load load = asked;
        load.arrivals = Arrivals::clients;
        for (load.batch = 1; load.batch <= 1024; load.batch *= 2) {
          const double inside = std::min(
              {memory.sequences_that_fit(context), static_cast<double>(each.pp * step), 1024.0});
          if (!(inside >= 1) || static_cast<double>(load.batch) > 2 * inside) break;
          const auto closed =
              in_closed_form(engine_of(each, steps, each.engine.policy, memory, load), load);
          if (!closed) break;
          const double clients = static_cast<double>(load.batch);
          const double rate = clients / (clients / closed->rate + each.engine.request.value());
          out[{{each.tp, each.pp, each.ep, each.dp, each.cp},
               std::string(weights_name(each)),
               step,
               load.batch}] = {1 / closed->each_token,
                               rate * static_cast<double>(asked.output * each.dp) /
                                   static_cast<double>(accelerators)};
        }
      }
    }
  }
  return out;
}

// The search leaves none out, has none twice, and says of each what is said of it alone; so that
// its front is that of all.
void expect_all_ways(const std::string& model, Load asked, std::int64_t accelerators,
                     bool two_formats) {
  const Serving base = testing::serving_of(model, "dgx-h100");
  const ServingConstants constants = *serving_constants(base.cluster);
  std::vector<ServingFormats> formats = {formats_of(base)};
  if (two_formats) {
    Serving small = base;
    set_weights(small, "fp8");
    small.cache = cache_format("fp8");
    formats.push_back(formats_of(small));
  }
  const auto found = ways_of_serving(base, constants, asked, {formats, true}, accelerators, 2, {});
  ASSERT_TRUE(found);
  auto left = one_by_one(base, constants, asked, formats, accelerators);
  EXPECT_EQ(found->size(), left.size());
  for (const ServingWay& way : *found) {
    const ServingSplit& s = way.split;
    const Serving serving = serving_of_way(base, way);
    const auto at = left.find({{s.tp, s.pp, s.ep, s.dp, s.cp},
                               std::string(weights_name(serving)),
                               way.step_tokens,
                               way.clients});
    ASSERT_NE(at, left.end());
    EXPECT_NEAR(way.drawn.user / at->second.first, 1, 1e-9);
    EXPECT_NEAR(way.drawn.accelerator / at->second.second, 1, 1e-9);
    left.erase(at);
  }
}

TEST(WaysOfServing, AreAllThatThereAreOneByOne) {
  expect_all_ways("llama-3-8b", {.input = 900, .output = 120}, 2, true);
  expect_all_ways("llama-3-8b", {.input = 2500, .output = 40}, 3, false);
  expect_all_ways("mixtral-8x7b", {.input = 300, .output = 300}, 2, true);
  expect_all_ways("gpt-oss-20b", {.input = 2, .output = 2}, 1, false);
}

// Placed in time, all of them: what is found by closed forms first is as good.
void expect_front_of_all(const Serving& base, Load asked, std::int64_t accelerators,
                         const SearchSpace& space = {}) {
  const ServingConstants constants = *serving_constants(base.cluster);
  const auto ways = ways_of_serving(base, constants, asked, space, accelerators, 2, {});
  ASSERT_TRUE(ways);
  std::vector<std::pair<double, double>> all;
  for (const ServingWay& way : *ways) {
    const Serving serving = serving_of_way(base, way);
    const Served by = served(serving, constants, load_of_way(asked, way));
    if (!are_held(by, way.clients) || !asked.keeps_to_limits(by.first_token, by.each_token)) {
      continue;
    }
    all.emplace_back(1 / by.each_token.value(),
                     by.output_per_second / static_cast<double>(accelerators));
  }
  const auto best = best_offers(base, constants, asked, space, accelerators, {}, 2, {});
  ASSERT_TRUE(best);
  EXPECT_LT(best->placed, ways->size());
  ASSERT_FALSE(all.empty());
  for (const auto& [user, accelerator] : all) {
    EXPECT_TRUE(std::any_of(best->front.begin(), best->front.end(),
                            [&](const Offer& offer) {
                              return offer.of_user() >= 0.99 * user &&
                                     offer.of_accelerator() >= 0.99 * accelerator;
                            }))
        << user << " " << accelerator;
  }
}

TEST(BestOffers, AreTheFrontOfAllWaysPlacedInTime) {
  const Serving base = testing::serving_of("llama-3-8b", "dgx-h100");
  expect_front_of_all(base, {.input = 1000, .output = 100}, 2);
}

TEST(BestOffers, WithinLimitsAreTheFrontOfAllWaysWithinThem) {
  const Serving base = testing::serving_of("llama-3-8b", "dgx-h100");
  Load asked{.input = 1000, .output = 100};
  asked.first_limit = Seconds(0.3);
  asked.each_limit = Seconds(15e-3);
  expect_front_of_all(base, asked, 2);
}

// Short prompts of a model with experts: clients that began together share a step for their
// prompts, which in the closed form of the steady state each have one.
TEST(BestOffers, OfShortPromptsAreTheFrontOfAllWaysPlacedInTime) {
  const Serving base = testing::serving_of("qwen3-30b-a3b", "dgx-h100", 1, "fp8");
  expect_front_of_all(base, {.input = 200, .output = 50}, 2);
}

// Of all numbers of clients, not of powers of two alone.
TEST(BestOffers, WithinLimitsHaveAsManyClientsAsKeepToThem) {
  const Serving base = testing::serving_of("llama-3-8b", "dgx-h100");
  const ServingConstants constants = *serving_constants(base.cluster);
  Load asked{.input = 500, .output = 100};
  asked.each_limit = Seconds(12e-3);
  SearchSpace space;
  space.step_tokens = false;
  const auto best = best_offers(base, constants, asked, space, 1, {}, 2, {});
  ASSERT_TRUE(best);
  double most = 0;
  Load load = asked;
  load.arrivals = Arrivals::clients;
  for (load.batch = 1; load.batch <= 256; ++load.batch) {
    const Served by = served(base, constants, load);
    if (asked.keeps_to_limits(by.first_token, by.each_token)) {
      most = std::max(most, by.output_per_second);
    }
  }
  EXPECT_NEAR(best->front.back().of_accelerator() / most, 1, 1e-9);
}

// Many that keep to the limits in one format, and some that do in another.
TEST(BestOffers, AmongFormatsAreTheFrontOfAllWaysWithinLimits) {
  Serving base = testing::serving_of("llama-3-8b", "dgx-a100-80gb");
  SearchSpace space;
  for (const char* name : {"bf16", "int4", "int8-full", "int8"}) {
    for (const char* cache : {"bf16", "fp8"}) {
      set_weights(base, name);
      base.cache = cache_format(cache);
      space.formats.push_back(formats_of(base));
    }
  }
  Load asked{.input = 1000, .output = 200};
  asked.first_limit = Seconds(1);
  asked.each_limit = Seconds(20e-3);
  expect_front_of_all(base, asked, 2, space);
}

// One prompt of 32,000 tokens on four: ranks that share it tell its first token sooner.
TEST(BestOffers, ShareLongPromptsWhereTheFirstTokenMatters) {
  const Serving base = testing::serving_of("llama-3.1-8b", "dgx-h100");
  Load asked{.input = 32'000, .output = 20};
  const ServingConstants constants = *serving_constants(base.cluster);
  const auto ways = ways_of_serving(base, constants, asked, {}, 4, 2, {});
  ASSERT_TRUE(ways);
  const auto least = [&](bool shared) {
    double out = 1e9;
    for (const ServingWay& way : *ways) {
      if ((way.split.cp > 1) == shared) out = std::min(out, way.least_first.value());
    }
    return out;
  };
  EXPECT_LT(least(true), least(false));
}

// 405 G weights of two bytes take 756 GiB, and sixteen H100 have 1,147 for all: eight have 574.
TEST(BestOffers, SayOfHowManyAcceleratorsSomeWayFits) {
  const Serving base = testing::serving_of("llama-3.1-405b", "dgx-h100");
  const Load asked{.input = 1000, .output = 100};
  EXPECT_EQ(enough_accelerators(base, asked, {}, 4), 16);
  const auto best = best_offers(base, *serving_constants(base.cluster), asked, {}, 8, {}, 1, {});
  ASSERT_TRUE(best);
  EXPECT_TRUE(best->front.empty());
  EXPECT_EQ(best->would_fit, 16);
}

// Steps of the engine that cuts no prompt hold one at least.
TEST(StepSizes, HoldAPromptThatIsNotCut) {
  Serving serving = testing::serving_of("llama-3-8b", "dgx-h100");
  serving.engine.policy.whole_prompts = true;
  EXPECT_EQ(step_sizes(serving, {}, {.input = 3000, .output = 1}),
            (std::vector<std::int64_t>{8192, 4096, 16'384}));
  SearchSpace space;
  space.step_tokens = false;
  EXPECT_EQ(step_sizes(serving, space, {.input = 3000, .output = 1}),
            std::vector<std::int64_t>{8192});
}

}  // namespace
}  // namespace headway
