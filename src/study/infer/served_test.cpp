// What requests get of a server: as one batch, from clients, at random moments, of a file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "study/infer/load/line_of_stages_for_test.hpp"
#include "study/infer/serving_for_test.hpp"
#include "study/infer/steps.hpp"

namespace headway {
namespace {

using testing::constants_of;
using testing::serving_of;

// As long as a step may be, room for all of a request before it is taken in.
constexpr Policy kReserving;

double sum_of(const std::vector<double>& of) {
  return std::accumulate(of.begin(), of.end(), 0.0);
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

TEST(Served, WithinLimitsIsTheShareThatKeepsToThem) {
  const Serving serving = serving_of("llama-3-70b", "dgx-h100", 8);
  const ServingConstants constants = constants_of(serving);
  Load load{.input = 1000, .output = 200, .arrivals = Arrivals::clients, .batch = 32};
  const Served all = served(serving, constants, load);
  load.first_limit = all.first_quantiles->p90;
  EXPECT_NEAR(*served(serving, constants, load).good, 0.9, 0.02);
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

}  // namespace
}  // namespace headway
