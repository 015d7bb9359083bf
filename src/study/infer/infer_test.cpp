#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "study/infer/items.hpp"
#include "study/infer/load/line_of_stages_for_test.hpp"
#include "study/infer/search/best.hpp"
#include "study/infer/serving_for_test.hpp"
#include "study/infer/steps.hpp"

namespace headway {
namespace {

using testing::serving_of;

ServingConstants constants_of(const Serving& serving) {
  return *serving_constants(serving.cluster);
}

// As long as a step may be, room for all of a request before it is taken in.
constexpr Policy kReserving;

double sum_of(const std::vector<double>& of) {
  return std::accumulate(of.begin(), of.end(), 0.0);
}

// [INFER-4] Known bytes of a token in the cache: 2·layers·heads·128·2 B, of DeepSeek-V3 61·576·2 B,
// which every rank holds whole.
TEST(ServingMemory, OfATokenIsItsKeysAndValues) {
  const auto of = [](const Serving& s) { return memory_of(s, 4096).cache_of_token; };
  EXPECT_EQ(of(serving_of("llama-2-7b", "dgx-h100")), Bytes(2 * 32 * 32 * 128 * 2));
  EXPECT_EQ(of(serving_of("llama-3-8b", "dgx-h100")), Bytes(2 * 32 * 8 * 128 * 2));
  EXPECT_EQ(of(serving_of("llama-3-70b", "dgx-h100", 8)), Bytes(2 * 80 * 128 * 2));
  EXPECT_EQ(of(serving_of("deepseek-v3", "dgx-h200")), Bytes(61 * 576 * 2));
  EXPECT_EQ(of(serving_of("deepseek-v3", "dgx-h200", 8)), Bytes(61 * 576 * 2));
  Serving small = serving_of("llama-3-8b", "dgx-h100");
  small.cache = cache_format("fp8");
  EXPECT_EQ(of(small), Bytes(2 * 32 * 8 * 128));
}

// [INFER-5] 8.03 G weights of two bytes, what the engine and the driver take beside them (26
// bytes of each logit of 1,024 sequences, more than the 839 MB of a pass of 8,192 tokens, and half
// a GiB), of 90 % of 80 GiB; 131,072 B a token.
TEST(ServingMemory, HoldsTheTokensThatWeightsAndEngineLeaveRoomFor) {
  const Serving serving = serving_of("llama-3-8b", "dgx-h100");
  const ServingMemory memory = memory_of(serving, 8192);
  EXPECT_NEAR(memory.weights.value(), 2 * 8.03e9, 0.01e9);
  const double beside = 1024.0 * 26 * 128256 + 536870912;
  const double left =
      0.9 * serving.cluster.accelerator.memory.value() - memory.weights.value() - beside;
  EXPECT_NEAR(memory.cached_tokens, left / 131072, 1);
}

// A pass reads the weights once, whatever it decodes; no answer is shorter than that.
TEST(ServedPass, IsNoShorterThanItsWeightsTakeToRead) {
  for (const char* name : {"llama-2-7b", "llama-3-70b", "mixtral-8x7b"}) {
    for (const std::int64_t tp : {1, 2, 8}) {
      const Serving serving = serving_of(name, "dgx-h100", tp);
      const ServingConstants constants = constants_of(serving);
      const PassTime pass =
          time_of(serving, constants, {.sequences = 256, .tokens = 1, .cached = 10});
      const Bytes weights = memory_of(serving, 4096).weights;
      // The embedding is looked up, not read.
      const Bytes looked_up(
          2.0 * static_cast<double>(serving.model.vocabulary * serving.model.hidden / tp));
      EXPECT_GT(pass.total(), (weights - looked_up) / serving.cluster.accelerator.memory_bandwidth)
          << name << " tp " << tp;
    }
  }
}

// [INFER-6] The pass in the middle stands for all: their sum, one by one.
TEST(Served, TakesTheSumOfItsPasses) {
  const Serving serving = serving_of("llama-2-7b", "dgx-h100");
  const ServingConstants constants = constants_of(serving);
  const Served answer = served(serving, constants, {.input = 500, .output = 300, .batch = 16});
  Seconds sum = answer.first_token;
  for (std::int64_t made = 1; made < 300; ++made) {
    sum +=
        time_of(serving, constants, {.sequences = 16, .tokens = 1, .cached = 500 + made}).total();
  }
  EXPECT_NEAR(answer.latency / sum, 1, 0.002);
  EXPECT_NEAR(answer.output_per_second * answer.latency.value(), 16 * 300, 1e-6);
}

// [INFER-6] A prompt that is longer than a step passes in pieces, each behind those before it; of a
// pipeline's stages each has one of them, until the last has passed all. Engines that cut none take
// it whole.
TEST(Served, CutsAPromptThatIsLongerThanAStep) {
  for (const std::int64_t piece : {1, 64, 512}) {
    for (const std::int64_t pp : {1, 2}) {
      Serving serving = serving_of("llama-2-7b", "dgx-h100");
      serving.pp = pp;
      serving.engine.policy.most_tokens = piece;
      const ServingConstants constants = constants_of(serving);
      const Load load{.input = 1024, .output = 8, .batch = 1};
      Seconds sum(0);
      for (std::int64_t at = 0; at < load.input; at += piece) {
        sum += time_of(serving, constants, {.tokens = piece, .cached = at, .replayed = piece == 1})
                   .total();
      }
      const double passes = static_cast<double>(load.input / piece),
                   stages = static_cast<double>(pp);
      const Seconds all = (passes + stages - 1) / stages / passes * sum;
      EXPECT_NEAR(served(serving, constants, load).first_token / all, 1, 0.02)
          << piece << " tokens, pp " << pp;
      serving.engine.policy.whole_prompts = true;
      const Seconds whole =
          time_of(serving, constants, {.tokens = load.input, .replayed = false}).total();
      EXPECT_EQ(served(serving, constants, load).first_token, whole);
    }
  }
}

// [INFER-7] One client alone is a batch of one, again and again.
TEST(Served, OfOneClientIsABatchOfOneBehindItsWayIn) {
  const Serving serving = serving_of("llama-3-70b", "dgx-h100", 8);
  const Seconds way = serving.engine.request;
  const ServingConstants constants = constants_of(serving);
  Load load{.input = 1000, .output = 200, .batch = 1};
  const Served batch = served(serving, constants, load);
  load.arrivals = Arrivals::clients;
  const Served client = served(serving, constants, load);
  EXPECT_NEAR((client.first_token - way) / batch.first_token, 1, 0.05);
  EXPECT_NEAR(client.each_token / batch.each_token, 1, 0.02);
  EXPECT_NEAR((client.latency - way) / batch.latency, 1, 0.02);
}

// [INFER-6] A long prompt takes as many passes of either; [INFER-18] those of a batch overlap in a
// pipeline, each stage busy with one piece, of which the last looks at all before it: a line of
// stages, one piece after another. Those of a client do the same.
TEST(Served, OfOneClientTakesAsManyPassesAsABatchOfOne) {
  for (const std::int64_t pp : {1, 4}) {
    Serving serving = serving_of("llama-3.1-8b", "dgx-h100");
    serving.pp = pp;
    const ServingConstants constants = constants_of(serving);
    Load load{.input = 13 * 8192, .output = 2, .batch = 1};
    const Served batch = served(serving, constants, load);
    load.arrivals = Arrivals::clients;
    const Served client = served(serving, constants, load);
    EXPECT_EQ(batch.prompt_passes, 13);
    EXPECT_EQ(client.prompt_passes, 13);
    EXPECT_EQ(client.prefill.total(), batch.prefill.total());
    std::vector<double> passes;
    for (std::int64_t at = 0; at < load.input; at += 8192) {
      const PassTime pass = time_of(serving, constants, {.tokens = 8192, .cached = at});
      passes.push_back(pass.total().value());
    }
    const Seconds line(testing::time_of_line(passes, static_cast<int>(pp)));
    EXPECT_NEAR(batch.first_token / line, 1, 0.02) << pp;
    EXPECT_GE(batch.first_token, line * 0.99) << pp;
    EXPECT_NEAR((client.first_token - serving.engine.request) / line, 1, 0.05) << pp;
    EXPECT_NEAR(batch.prompt_share / (batch.first_token / batch.latency), 1, 1e-9);
  }
}

// [INFER-7] In the mean clients have as many requests under way as there are clients (Little).
TEST(Served, OfClientsHasEachWaitForItsAnswer) {
  const Serving serving = serving_of("llama-3-70b", "dgx-h100", 8);
  const ServingConstants constants = constants_of(serving);
  const StepTimes steps = step_times(serving, constants, 1000, 200);
  const Answered by =
      answered({steps, serving.engine.policy, 1e9},
               {.input = 1000, .output = 200, .arrivals = Arrivals::clients, .batch = 64});
  // At the end some have been answered for the last time.
  EXPECT_LE(sum_of(by.latency) / by.elapsed.value(), 64 + 1e-9);
  EXPECT_GT(sum_of(by.latency) / by.elapsed.value(), 63.5);
  EXPECT_EQ(by.tokens, 640 * 200);
}

// [INFER-7] Room for ten sequences: no more at a time, and the others' first tokens wait for them.
TEST(Served, OfMoreClientsThanTheCacheHoldsLetsThemWait) {
  const Serving serving = serving_of("llama-3-70b", "dgx-h100", 8);
  const ServingConstants constants = constants_of(serving);
  const StepTimes steps = step_times(serving, constants, 1000, 200);
  const Load load{.input = 1000, .output = 200, .arrivals = Arrivals::clients, .batch = 40};
  const Answered all = answered({steps, kReserving, 1e9}, load);
  const Answered ten = answered({steps, kReserving, 12'000}, load);
  EXPECT_LE(ten.most, 10);
  EXPECT_GT(sum_of(ten.first_token), 5 * sum_of(all.first_token));
  EXPECT_EQ(ten.tokens, all.tokens);
}

// [INFER-7] Prompts alone, at random moments, are a queue of one server: at half of what it can the
// mean wait is half a service (M/D/1, P/(2(1 - P)) services at a load of P).
TEST(Served, OfPromptsAtRandomWaitsAsAQueueDoes) {
  const Serving serving = serving_of("llama-3-70b", "dgx-h100", 8);
  const ServingConstants constants = constants_of(serving);
  const StepTimes steps = step_times(serving, constants, 8192, 1);
  const double service = steps.of({.prompt = 8192, .pairs = 8192.0 * 8192, .piece = 8192});
  const Answered by =
      answered({steps, kReserving, 1e9},
               {.input = 8192, .output = 1, .arrivals = Arrivals::random, .rate = 0.5 / service});
  EXPECT_EQ(by.latency.size(), 2000U);
  EXPECT_NEAR(sum_of(by.first_token) / 2000 / service, 1.5, 0.08);
}

// [INFER-7] Beyond what clients without end are answered no rate is stable.
TEST(Served, AtARateBeyondCapacityIsNotStable) {
  const Serving serving = serving_of("llama-3-70b", "dgx-h100", 8);
  const ServingConstants constants = constants_of(serving);
  Load load{.input = 1000, .output = 200, .arrivals = Arrivals::random, .rate = 1e6};
  const Served over = served(serving, constants, load);
  ASSERT_TRUE(over.capacity);
  EXPECT_FALSE(over.stable());
  load.rate = 0.8 * *over.capacity;
  const Served under = served(serving, constants, load);
  EXPECT_TRUE(under.stable());
  // What comes in goes out.
  EXPECT_NEAR(under.output_per_second / (200 * load.rate), 1, 0.05);
}

// However long the last answers take.
TEST(Served, OfRandomRequestsAnswersAsManyAsCome) {
  const Serving serving = serving_of("llama-3-70b", "dgx-h100", 8);
  const ServingConstants constants = constants_of(serving);
  Load load{.input = 300, .output = 2000, .arrivals = Arrivals::random, .rate = 2};
  for (const double spread : {0.0, 1.0}) {
    load.output_spread = {LengthSpread::Kind::log_normal, spread};
    load.first_limit = Seconds(1000);
    const Served by = served(serving, constants, load);
    ASSERT_TRUE(by.stable());
    EXPECT_NEAR(by.output_per_second / (2000 * load.rate), 1, 0.06);
    EXPECT_NEAR(by.goodput / load.rate, 1, 0.04);
  }
}

// [INFER-39] Four products of a layer have their inputs made 8 bits: a pass each, or none where the
// kernel before does it. By blocks each has one of its own; of 16 bits there is none.
TEST(ServedPass, OfAnEngineThatFusesCastsHasNoneOfTheirPasses) {
  const auto casts = [](const std::string& weights, const std::vector<std::string>& fused) {
    Serving serving = serving_of("llama-3-70b", "dgx-h100", 8, weights);
    serving.engine.fuses_casts = fused;
    std::vector<PassItem> items;
    time_of(serving, constants_of(serving), {.tokens = 1, .cached = 100}, items);
    double out = 0;
    for (const PassItem& item : items) {
      const auto* op = std::get_if<Op>(&item.what);
      const auto* pass = op != nullptr ? std::get_if<Pass>(&op->shape) : nullptr;
      if (pass != nullptr && pass->cast) out += item.count;
    }
    return out / 80;
  };
  EXPECT_EQ(casts("fp8", {}), 4);
  EXPECT_EQ(casts("fp8", {"fp8"}), 0);
  EXPECT_EQ(casts("fp8", {"fp4"}), 4);
  EXPECT_EQ(casts("fp8-block", {"fp8"}), 4);
  EXPECT_EQ(casts("bf16", {}), 0);
}

// [FORECAST-12] Of a board of 400 W in place of 700 products run at (400/700)^0.34 of their rate;
// what memory bounds does not.
TEST(ServedPass, OfABoardOfLessPowerComputesSlower) {
  const Serving full = serving_of("llama-3-70b", "dgx-h100", 8);
  Serving capped = full;
  capped.cluster.accelerator.board_power = Watts(400);
  const auto time = [](const Serving& serving, std::int64_t tokens) {
    PassTime pass = time_of(serving, constants_of(serving), {.tokens = tokens});
    return pass[ServingPart::products];
  };
  const double slower = std::pow(400.0 / 700, 0.3398);
  EXPECT_NEAR(time(full, 8192) / time(capped, 8192), slower, 0.01);
  EXPECT_NEAR(time(full, 1) / time(capped, 1), 1, 0.01);
}

TEST(Served, WithinLimitsIsTheShareThatKeepsToThem) {
  const Serving serving = serving_of("llama-3-70b", "dgx-h100", 8);
  const ServingConstants constants = constants_of(serving);
  Load load{.input = 1000, .output = 200, .arrivals = Arrivals::clients, .batch = 32};
  const Served all = served(serving, constants, load);
  load.first_limit = all.first_quantiles->p90;
  EXPECT_NEAR(*served(serving, constants, load).good, 0.9, 0.02);
}

// [INFER-8] What a graph replays waits between its kernels, layer after layer; what none does is as
// long as its launches where these take longer.
TEST(ServedPass, HasTheHostsPartOnTop) {
  Serving serving = serving_of("llama-2-7b", "dgx-h100");
  const ServingConstants constants = constants_of(serving);
  serving.engine.step = Seconds(1e-3);
  serving.engine.sequence = Seconds(1e-5);
  serving.engine.layer = {{"default", Seconds(2e-5)}};
  PassTime pass = time_of(serving, constants, {.sequences = 4, .tokens = 1, .cached = 100});
  EXPECT_NEAR(pass[ServingPart::host].value(), 1e-3 + 4e-5 + 32 * 2e-5, 1e-12);
  serving.engine.launch = Seconds(1);
  pass = time_of(serving, constants, {.tokens = 10, .replayed = false});
  EXPECT_GT(pass.total(), Seconds(32 * 8));
}

// [INFER-9] The quick form of a step beside whole passes: decoding alone, and a prompt alone.
TEST(StepTimes, AreThoseOfWholePasses) {
  const Serving serving = serving_of("llama-3-70b", "dgx-h100", 8);
  const ServingConstants constants = constants_of(serving);
  const StepTimes steps = step_times(serving, constants, 1000, 200);
  for (const std::int64_t sequences : {1, 7, 64, 300}) {
    const PassTime pass =
        time_of(serving, constants, {.sequences = sequences, .tokens = 1, .cached = 1100});
    const double decoding = static_cast<double>(sequences);
    EXPECT_NEAR(steps.of({.decoding = decoding, .cached = decoding * 1100}) / pass.total().value(),
                1, 0.02)
        << sequences;
  }
  const PassTime prompt =
      time_of(serving, constants, {.sequences = 4, .tokens = 1000, .replayed = false});
  EXPECT_NEAR(steps.of({.prompt = 4000, .pairs = 4e6}) / prompt.total().value(), 1, 0.05);
}

// However they come: each request takes its prompt and makes its answer, in each of the copies.
TEST(ServedByCopies, TakeAsManyTokensOfPromptsAsTheirAnswersHave) {
  Serving serving = serving_of("llama-3-8b", "dgx-h100");
  const ServingConstants constants = constants_of(serving);
  for (const Arrivals arrivals : {Arrivals::together, Arrivals::clients, Arrivals::random}) {
    const Load load{.input = 3000, .output = 200, .arrivals = arrivals, .batch = 16, .rate = 1};
    for (const std::int64_t copies : {1, 4}) {
      serving.dp = copies;
      const Served by = served(serving, constants, load);
      EXPECT_NEAR(by.total_per_second / by.output_per_second, 16, 1e-9)
          << static_cast<int>(arrivals) << " " << copies;
    }
  }
}

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

TEST(ServingCheck, NamesEverythingThatIsWrong) {
  Serving serving = serving_of("mixtral-8x7b", "dgx-h100", 3);
  serving.ep = 5;
  serving.pp = 100;
  // 3 beside 32 heads and 8 key-value heads, 5 beside 8 experts and 3 ranks, 100 beside 32 layers.
  EXPECT_EQ(check(serving).size(), 5U);
}

// As in training: no rank has a part of a column.
TEST(ServingCheck, RefusesWidthsThatDoNotSplit) {
  Serving serving = serving_of("gpt-oss-20b", "dgx-h100", 32);  // 2,880 wide experts, 64 heads
  serving.cluster.accelerators = 64;
  EXPECT_TRUE(check(serving).empty());
  serving.tp = 64;
  EXPECT_TRUE(check(serving).empty());
  Serving dense = serving_of("llama-2-7b", "dgx-h100", 32);  // 11,008 = 32 x 344
  EXPECT_TRUE(check(dense).empty());
  dense.model.kinds[0].feed_forward->width = 11'000;
  EXPECT_EQ(check(dense).size(), 1U);
}

// Volta multiplies in fp16 and not in bf16; its attention, too.
TEST(ServedPass, OfAnAcceleratorWithoutBf16TakesATime) {
  Serving serving = serving_of("llama-2-7b", "dgx-v100");
  serving.weights = recipe_from("fp16");
  ASSERT_TRUE(check(serving).empty());
  const ServingConstants constants = constants_of(serving);
  const double time = time_of(serving, constants, {.tokens = 1000}).total().value();
  EXPECT_TRUE(std::isfinite(time));
  // 13.2 TFLOP at 125 TFLOP/s and less than ten times as long.
  EXPECT_GT(time, 0.105);
  EXPECT_LT(time, 1.05);
}

// Embedding and head in the format of activations: 4 bytes of 32-bit training's recipe.
TEST(ServingMemory, OfTheEndsIsInTheFormatOfActivations) {
  Serving serving = serving_of("llama-2-7b", "dgx-h100");
  serving.weights = recipe_from("fp32");
  EXPECT_NEAR(memory_of(serving, 4096).weights.value(), 4 * 6.738e9, 0.01e9);
}

TEST(ServingCheck, RefusesFormatsThatTheAcceleratorLacks) {
  Serving serving = serving_of("llama-2-7b", "dgx-a100-80gb");
  serving.weights = recipe_from("fp8");
  ASSERT_EQ(check(serving).size(), 1U);
}

// Of a file the longest request has to fit, not the mean one.
TEST(Served, OfAFileFitsWhereItsLongestRequestDoes) {
  const Serving serving = serving_of("llama-3.1-8b", "rtx-4090-8");
  const double tokens = memory_of(serving, 1000).cached_tokens;
  const auto fits = [&](std::int64_t longest) {
    Load load{.input = longest / 2, .output = 10, .arrivals = Arrivals::random, .rate = 0.01};
    load.listed = std::make_shared<const std::vector<Listed>>(
        std::vector<Listed>{{0, 100, 10}, {0, longest, 10}});
    return served(serving, constants_of(serving), load).fits;
  };
  EXPECT_TRUE(fits(static_cast<std::int64_t>(tokens) - 100));
  EXPECT_FALSE(fits(static_cast<std::int64_t>(tokens) + 100));
}

// Two answers of 100 tokens and two of one: the time between tokens is of the first two.
TEST(Served, OfAnswersOfOneTokenSaysNoTimeOfEach) {
  const Serving serving = serving_of("llama-3.1-8b", "dgx-h100");
  const auto each_of = [&](const std::vector<std::int64_t>& outputs) {
    auto listed = std::make_shared<std::vector<Listed>>();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      listed->push_back({10.0 * static_cast<double>(i), 1000, outputs[i]});
    }
    Load load{.input = 1000, .output = 50, .arrivals = Arrivals::listed};
    load.listed = listed;
    load.each_limit = Seconds(1e-3);
    return served(serving, constants_of(serving), load);
  };
  const Served both = each_of({100, 1, 100, 1}), long_ones = each_of({100, 100});
  EXPECT_NEAR(both.each_token / long_ones.each_token, 1, 1e-6);
  EXPECT_EQ(both.each_quantiles->median, long_ones.each_quantiles->median);
  EXPECT_EQ(*both.good, 0.5);  // no answer of one token is too slow for its second
  EXPECT_EQ(each_of({1, 1}).each_token, Seconds(0));
}

// What guesses takes in the prompts of a batch as it does those of a client [INFER-16].
TEST(Served, OfABatchHasWhatGuessesTakeInPrompts) {
  Serving serving = serving_of("llama-3-70b", "dgx-h100", 8);
  const ServingConstants constants = constants_of(serving);
  const Load load{.input = 1000, .output = 100, .batch = 1};
  const Seconds alone = served(serving, constants, load).first_token;
  serving.speculation = Speculation{{.chance = 0.7, .length = 3}, *load_model("llama-3-8b")};
  const Seconds with = served(serving, constants, load).first_token;
  const Seconds draft =
      time_of(draft_of(serving), constants, {.tokens = 1000, .replayed = false}).total();
  EXPECT_NEAR((with - alone) / draft, 1, 1e-9);
}

// Guesses are of the model's own vocabulary, but for what it is padded by.
TEST(Speculation, IsByAModelOfTheSameTokens) {
  Serving serving = serving_of("llama-3-70b", "dgx-h100", 8);
  const auto taken = [&](const char* draft) {
    serving.speculation = Speculation{{.chance = 0.7, .length = 3}, *load_model(draft)};
    return check(serving).empty();
  };
  EXPECT_TRUE(taken("llama-3-8b"));
  EXPECT_FALSE(taken("llama-2-7b"));
}

}  // namespace
}  // namespace headway
