#include "study/infer/apart.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "study/infer/search/best_apart.hpp"
#include "study/infer/search/goodput.hpp"
#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

Serving serving_of_70b(std::int64_t tp) {
  Serving out = testing::serving_of("llama-3-70b", "dgx-h100", tp, "fp8");
  out.cache = cache_format("fp8");
  return out;
}

ServingApart two_beside_four() {
  return {serving_of_70b(2), serving_of_70b(4), 2, 1};
}

Load clients_of(std::int64_t count) {
  return {.input = 1000, .output = 200, .arrivals = Arrivals::clients, .batch = count};
}

// [INFER-19] One client alone: a prompt's pass, its cache over NVLink, and passes of one sequence.
TEST(ServedApart, OfOneClientIsPrefillTheWayAndDecoding) {
  const ServingApart apart = two_beside_four();
  const ServingConstants constants = *serving_constants(apart.prefill.cluster);
  const ServedApart by = served(apart, constants, clients_of(1));
  ASSERT_TRUE(by.all.fits);
  const Seconds prompt =
      time_of(apart.prefill, constants, {.tokens = 1000, .replayed = false}).total();
  EXPECT_NEAR((by.all.first_token - apart.prefill.engine.request) / (prompt + by.moving), 1, 0.05);
  const Seconds token =
      time_of(apart.decode, constants, {.sequences = 1, .tokens = 1, .cached = 1100}).total();
  EXPECT_NEAR(by.all.each_token / token, 1, 0.02);
  // 1,000 tokens of 160 KiB, two ranks to four, each sends 82 MB: 0.18 ms at 450 GB/s, and more.
  EXPECT_GT(by.moving.value(), 1000 * 163840.0 / 2 / 450e9);
  EXPECT_LT(by.moving.value(), 3 * 1000 * 163840.0 / 2 / 450e9);
}

// [INFER-6] Prefill whose steps hold a quarter of a prompt passes it four times, and says so;
// [INFER-18] in two stages its pieces follow each other.
TEST(ServedApart, PassesALongPromptInPieces) {
  ServingApart apart = two_beside_four();
  apart.prefill.pp = 2;
  apart.prefill_copies = 1;
  apart.prefill.engine.policy.most_tokens = 2000;
  const ServingConstants constants = *serving_constants(apart.prefill.cluster);
  Load load = clients_of(1);
  load.input = 8000;
  const ServedApart by = served(apart, constants, load);
  ASSERT_TRUE(by.all.fits);
  EXPECT_EQ(by.all.prompt_passes, 4);
  // Half of each of four passes, and the second half of the last.
  const Seconds first = by.all.first_token - apart.prefill.engine.request - by.moving;
  EXPECT_NEAR(first / by.all.prefill.total(), 2.5, 0.2);
}

// [INFER-19] A cache that moves while prefill makes it is not all there before it has moved: where
// two stages work on four pieces in the time of 2.5 passes, no more than that is hidden.
TEST(ServedApart, HasNoTokenBeforeItsCacheHasMoved) {
  ServingApart apart = two_beside_four();
  apart.prefill.pp = 2;
  apart.prefill_copies = 1;
  apart.decode_copies = 4;  // more than a node: the cache goes over the network
  apart.prefill.engine.policy.most_tokens = 2000;
  apart.prefill.cluster.accelerators = 64;
  apart.streamed = true;
  const ServingConstants constants = *serving_constants(apart.prefill.cluster);
  Load load = clients_of(1);
  load.input = 8000;
  const auto at = [&](double bandwidth) {
    apart.prefill.cluster.levels[1].bandwidth = BytesPerSecond(bandwidth);
    return served(apart, constants, load);
  };
  const ServedApart before = at(1e9);
  const Seconds passes = 3.2 * before.all.prefill.total();
  const ServedApart by = at(1e9 * (before.moving / passes));
  ASSERT_GT(by.moving, 3 * by.all.prefill.total());
  ASSERT_LT(by.moving, 3.5 * by.all.prefill.total());
  EXPECT_GT(by.all.first_token - apart.prefill.engine.request, by.moving);
}

// [INFER-19] Ranks that share each sequence keep a part of its cache, as those of tp do: four that
// send or take it have the same way, however they are split.
TEST(ServedApart, MovesACacheByAllRanksThatHoldIt) {
  Serving one = testing::serving_of("llama-3-8b", "dgx-h100"), four = one, shared = one;
  four.tp = 4;
  shared.tp = shared.cp = 2;
  const ServingConstants constants = *serving_constants(one.cluster);
  const auto moving = [&](const Serving& prefill, const Serving& decode) {
    return served(ServingApart{prefill, decode}, constants, clients_of(1)).moving.value();
  };
  // 1,000 tokens of 128 KiB from one rank, and from four at once.
  EXPECT_GT(moving(one, shared), 1000 * 131072.0 / 450e9);
  EXPECT_NEAR(moving(one, shared) / moving(one, four), 1, 1e-9);
  EXPECT_NEAR(moving(shared, four) / moving(four, four), 1, 1e-9);
  EXPECT_NEAR(moving(four, shared) / moving(four, four), 1, 1e-9);
}

// Of a decode pool alone no prompt takes time: its tokens are faster than those of clients whose
// prompts pass between them, on as many accelerators.
TEST(ServedApart, HasNoPromptsBetweenItsTokens) {
  const ServingApart apart = two_beside_four();
  const ServingConstants constants = *serving_constants(apart.prefill.cluster);
  const Served mixed = served(serving_of_70b(4), constants, clients_of(32));
  EXPECT_LT(served(apart, constants, clients_of(32)).all.each_token, mixed.each_token);
}

TEST(ServedApart, AtARateBeyondItsSlowestPartIsNotStable) {
  const ServingApart apart = two_beside_four();
  const ServingConstants constants = *serving_constants(apart.prefill.cluster);
  Load load = clients_of(1);
  load.arrivals = Arrivals::random;
  load.rate = 1e5;
  const ServedApart over = served(apart, constants, load);
  EXPECT_FALSE(over.all.stable());
  load.rate = 0.7 * over.rates.least();
  const ServedApart under = served(apart, constants, load);
  ASSERT_TRUE(under.all.stable());
  EXPECT_NEAR(under.all.output_per_second / (200 * load.rate), 1, 0.06);
}

TEST(ServingApart, IsRefusedWhereAPartIsOrBothAreTooMany) {
  ServingApart apart = two_beside_four();
  EXPECT_TRUE(check(apart).empty());
  apart.prefill.tp = 3;
  const Problems problems = check(apart);
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems.front().fields.front().name, "prefill");
  apart = two_beside_four();
  apart.decode_copies = 1'000'000;
  EXPECT_EQ(check(apart).size(), 1U);
}

// Nothing that it searches by hand beats the front by more than the closed form's error.
TEST(BestApart, IsNoWorseThanWaysThatAreGiven) {
  const Serving base = serving_of_70b(1);
  const ServingConstants constants = *serving_constants(base.cluster);
  const auto best =
      best_apart(base, constants, {.input = 1000, .output = 200}, {}, 8, false, {}, 2, {});
  ASSERT_TRUE(best);
  ASSERT_FALSE(best->front.empty());
  for (const ApartOffer& offer : best->front) EXPECT_EQ(offer.apart.ranks(), 8);
  for (std::size_t i = 1; i < best->front.size(); ++i) {
    EXPECT_LT(best->front[i].of_user(), best->front[i - 1].of_user());
    EXPECT_GT(best->front[i].of_accelerator(), best->front[i - 1].of_accelerator());
  }
  for (const std::int64_t clients : {1, 16, 256}) {
    const ServedApart given = served(two_beside_four(), constants, clients_of(clients));
    const double user = 1 / given.all.each_token.value(), each = given.all.output_per_second / 8;
    EXPECT_TRUE(std::any_of(best->front.begin(), best->front.end(), [&](const ApartOffer& offer) {
      return offer.of_user() >= 0.9 * user && offer.of_accelerator() >= 0.8 * each;
    })) << clients;
  }
}

// A client whose way in takes a second asks again that much later: an accelerator makes most with
// many of them, of whom hardly one is inside.
TEST(BestApart, CountsTheWayInOfAnswersOfOneToken) {
  Serving base = testing::serving_of("llama-3-8b", "dgx-h100");
  base.engine.request = Seconds(1);
  const ServingConstants constants = *serving_constants(base.cluster);
  Load asked{.input = 500, .output = 1};
  const auto best = best_apart(base, constants, asked, {{}, false}, 2, false, {}, 2, {});
  ASSERT_TRUE(best && !best->front.empty());
  asked.arrivals = Arrivals::clients;
  asked.batch = 64;
  const ServedApart given = served(ServingApart{base, base}, constants, asked);
  EXPECT_GE(best->front.back().of_accelerator(), 0.8 * given.all.output_per_second / 2);
}

// Two formats are searched as each by itself: no way of either beats the front of both.
TEST(BestApart, AmongFormatsIsTheFrontOfEach) {
  Serving base = serving_of_70b(1);
  const ServingConstants constants = *serving_constants(base.cluster);
  const Load asked{.input = 1000, .output = 100};
  std::vector<ServingFormats> formats;
  for (const char* name : {"fp8", "int4"}) {
    set_weights(base, name);
    formats.push_back(formats_of(base));
  }
  const auto both = best_apart(base, constants, asked, {formats, false}, 4, false, {}, 2, {});
  ASSERT_TRUE(both);
  std::size_t ways = 0;
  for (const ServingFormats& format : formats) {
    const auto one = best_apart(base, constants, asked, {{format}, false}, 4, false, {}, 2, {});
    ASSERT_TRUE(one);
    ways += one->tried;
    for (const ApartOffer& offer : one->front) {
      EXPECT_TRUE(std::any_of(both->front.begin(), both->front.end(), [&](const ApartOffer& of) {
        return of.of_user() >= offer.of_user() * 0.97 &&
               of.of_accelerator() >= offer.of_accelerator() * 0.97;
      }));
    }
  }
  EXPECT_EQ(both->tried, ways);
}

// [INFER-22] All accelerators together draw what a token takes times the tokens; those of prefill,
// which wait most of the time for eight clients' prompts, draw little more than idle ones.
TEST(ServedApart, DrawsWhatItsPartsDraw) {
  const ServingApart apart = two_beside_four();
  const ServingConstants constants = *serving_constants(apart.decode.cluster);
  const ServedApart by = served(apart, constants, clients_of(8));
  const double ranks = static_cast<double>(apart.ranks());
  EXPECT_NEAR(by.all.energy_of_token.value() * by.all.output_per_second,
              by.all.mean_power.value() * ranks, 1e-6 * by.all.mean_power.value() * ranks);
  const Accelerator& accelerator = apart.decode.cluster.accelerator;
  EXPECT_GT(by.all.mean_power.value(), accelerator.idle_power.value());
  EXPECT_LE(by.all.mean_power, accelerator.power_limit());
  EXPECT_LT(by.all.mean_power, by.all.decode_power);
  EXPECT_NEAR(by.all.prompt_share, static_cast<double>(apart.prefill_ranks()) / ranks, 1e-12);
  // With more to do more is drawn, and less a token.
  const ServedApart more = served(apart, constants, clients_of(128));
  EXPECT_GT(more.all.mean_power, by.all.mean_power);
  EXPECT_LT(more.all.energy_of_token, by.all.energy_of_token);
}

TEST(BestApart, IsTheSameOnAnyNumberOfThreads) {
  const Serving base = serving_of_70b(1);
  const ServingConstants constants = *serving_constants(base.cluster);
  const Load asked{.input = 500, .output = 100};
  const auto one = best_apart(base, constants, asked, {}, 4, true, {}, 1, {});
  const auto two = best_apart(base, constants, asked, {}, 4, true, {}, 2, {});
  ASSERT_TRUE(one && two);
  ASSERT_EQ(one->front.size(), two->front.size());
  for (std::size_t i = 0; i < one->front.size(); ++i) {
    EXPECT_EQ(one->front[i].of_user(), two->front[i].of_user());
  }
}

// A token is no sooner than the bytes that its pass reads: weights (without the embedding, which is
// looked up) once for the guesses of a step, on all stages.
RC_GTEST_PROP(Served, HasNoTokenSoonerThanItsWeightsAreRead, ()) {
  Serving serving = serving_of_70b(*rc::gen::element<std::int64_t>(2, 4, 8));
  serving.pp = *rc::gen::element<std::int64_t>(1, 2, 4);
  const ServingConstants constants = *serving_constants(serving.cluster);
  Load load{.input = *rc::gen::inRange(1, 4000), .output = *rc::gen::inRange(2, 300)};
  load.arrivals = Arrivals::clients;
  load.batch = *rc::gen::inRange(1, 200);
  load.count = 2 * load.batch;
  load.prefix_hit = *rc::gen::inRange(0, 10) / 10.0;
  serving.engine.policy.prompts_first = *rc::gen::arbitrary<bool>();
  serving.engine.policy.reserve = *rc::gen::arbitrary<bool>();
  const Served by = served(serving, constants, load);
  RC_PRE(by.fits);
  const double ends = static_cast<double>(serving.model.vocabulary * serving.model.hidden * 2);
  const double weights = 70.5e9 - ends / 2 - 2 * ends / 2;
  const double least = weights / static_cast<double>(serving.tp) /
                       serving.cluster.accelerator.memory_bandwidth.value();
  RC_ASSERT(by.each_token.value() > least);
}

// [INFER-18] A batch of 64 in two stages: half of it passes at a time, and each pass is as long as
// both stages take; prompts come out one stage after the last has entered.
TEST(ServedPipeline, HasAsManyBatchesUnderWayAsStages) {
  Serving serving = serving_of_70b(4);
  serving.pp = 2;
  serving.cluster.accelerators = 8;
  const ServingConstants constants = *serving_constants(serving.cluster);
  const Served by = served(serving, constants, {.input = 1000, .output = 100, .batch = 64});
  const Seconds half =
      time_of(serving, constants, {.sequences = 32, .tokens = 1, .cached = 1050}).total();
  EXPECT_NEAR(by.each_token / half, 1, 1e-9);
  // Eight prompts a pass, eight passes, and the last stage of the last.
  EXPECT_NEAR(by.first_token / by.prefill.total(), (8 + 1) / 2.0, 1e-9);
  // More than one after another would make.
  const Seconds whole =
      time_of(serving, constants, {.sequences = 64, .tokens = 1, .cached = 1050}).total();
  EXPECT_LT(by.each_token, whole);
}

// [INFER-16] DeepSeek-V3's prediction layer, of which 85 % of guesses are right: 1.85 tokens a pass
// that is little longer, and the layer's own pass.
TEST(Speculation, OfAPredictionLayerIsFasterByWhatItGuessesRight) {
  Serving serving = testing::serving_of("deepseek-v3", "dgx-h200", 8, "fp8-block");
  serving.cache = cache_format("fp8");
  serving.ep = 8;
  const ServingConstants constants = *serving_constants(serving.cluster);
  const Load load{.input = 1000, .output = 500, .batch = 1};
  const Served plain = served(serving, constants, load);
  serving.speculation = Speculation{{0.85, 1}, std::nullopt};
  const Served guessed = served(serving, constants, load);
  const double faster = plain.each_token / guessed.each_token;
  EXPECT_GT(faster, 1.2);
  EXPECT_LT(faster, 1.85);
  // The layer and its projection: 11.5 G weights of the 671 G of 61 layers, and its cache.
  EXPECT_GT(guessed.memory.weights.value(), plain.memory.weights.value() + 11e9 / 8);
  EXPECT_NEAR(guessed.memory.cache_of_token / plain.memory.cache_of_token, 62.0 / 61, 1e-9);
  // Clients get the same, request by request.
  Load one = load;
  one.arrivals = Arrivals::clients;
  EXPECT_NEAR(served(serving, constants, one).each_token / guessed.each_token, 1, 0.04);
}

// The share within the limits is what was asked at the highest rate, and less a little beyond it.
TEST(RateWithin, IsTheHighestThatKeepsToTheLimits) {
  const Serving serving = serving_of_70b(8);
  const ServingConstants constants = *serving_constants(serving.cluster);
  Load load{.input = 1000, .output = 200, .arrivals = Arrivals::random};
  load.each_limit = Seconds(20e-3);
  const double rate = rate_within(serving, constants, load, 0.9);
  ASSERT_GT(rate, 0);
  load.count = 10'000;
  load.rate = rate;
  EXPECT_GE(*served(serving, constants, load).good, 0.9);
  load.rate = 1.03 * rate;
  EXPECT_LT(*served(serving, constants, load).good, 0.9);
  load.each_limit = Seconds(1e-6);
  EXPECT_EQ(rate_within(serving, constants, load, 0.9), 0);
}

}  // namespace
}  // namespace headway
