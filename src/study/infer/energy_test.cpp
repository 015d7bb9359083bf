// What serving draws and takes [INFER-22].
#include "forecast/energy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "model/count.hpp"
#include "study/infer/apart.hpp"
#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

struct Case {
  Serving serving;
  ServingConstants constants;
};
Case case_of(std::int64_t tp) {
  const Serving out = testing::serving_of("llama-3-70b", "dgx-h100", tp);
  return {out, *serving_constants(out.cluster)};
}

Load batch_of(std::int64_t sequences) {
  return {.input = 1000, .output = 200, .batch = sequences};
}

// By hand: 16 answers of 200 tokens take the batch's time on 8 accelerators at their mean power,
// which lies between what decoding and prefill draw, and none of them above the board's 700 W.
TEST(ServedEnergy, IsPowerTimesTimeOverTokens) {
  const auto [serving, constants] = case_of(8);
  const Served answer = served(serving, constants, batch_of(16));
  const double joules = answer.mean_power.value() * 8 * answer.latency.value() / (16 * 200);
  EXPECT_NEAR(answer.energy_of_token.value() / joules, 1, 1e-9);
  EXPECT_LT(answer.decode_power, answer.mean_power);
  EXPECT_LT(answer.mean_power, answer.prefill_power);
  EXPECT_LE(answer.prefill_power, serving.cluster.accelerator.tdp);
  EXPECT_GT(answer.decode_power, serving.cluster.accelerator.idle_power);
}

// Products of a decode pass: two FLOPs a parameter and sequence, of 70.6e9 without the embedding's
// 1.05e9, over 8 ranks; rated at what long products of the architecture sustain.
TEST(ServedEnergy, RatesProductsByTheirFlops) {
  const auto [serving, constants] = case_of(8);
  const PassTime pass = time_of(serving, constants, {.sequences = 64, .tokens = 1, .cached = 1000});
  const double parameters = 70.5537e9 - 128256.0 * 8192;
  const double rate = 989.4e12 * constants.alone.kernels.of(ProductFormat::bits_16).ceiling *
                      constants.alone.kernels.sustained;
  EXPECT_NEAR(pass.rated.value() / (2 * 64 * parameters / 8 / rate), 1, 0.02);
}

TEST(ServedEnergy, OfATokenFallsWithTheBatchAndStaysAboveTheProducts) {
  const auto [serving, constants] = case_of(8);
  double last = INFINITY;
  for (const std::int64_t sequences : {1, 8, 64, 512}) {
    const double each = served(serving, constants, batch_of(sequences)).energy_of_token.value();
    EXPECT_LT(each, last);
    last = each;
  }
  // 1,200 tokens of 141 GFLOP for 200 of output, at the peak's 700 W / 989 TFLOP/s.
  EXPECT_GT(last, 6 * 141e9 * 700 / 989.4e12);
}

// [INFER-16] 85 % of single guesses are right: 199 tokens after the first take 199 / 1.85 passes,
// each with a guess. One sequence by itself: its prompt's share is that of its first token.
TEST(ServedEnergy, OfGuessesIsOfThePassesThatTheyLeave) {
  Serving serving = testing::serving_of("deepseek-v3", "dgx-h200", 8, "fp8-block");
  serving.ep = 8;
  serving.cache = cache_format("fp8");
  serving.speculation = Speculation{{0.85, 1}, std::nullopt};
  const ServingConstants constants = *serving_constants(serving.cluster);
  const Served answer = served(serving, constants, batch_of(1));
  EXPECT_NEAR(answer.prompt_share / (answer.first_token / answer.latency), 1, 1e-9);
  const Seconds rated = answer.prefill.rated + answer.draft_prompt_rated +
                        199 / 1.85 * (answer.decode.rated + answer.draft_rated);
  EXPECT_GT(answer.draft_rated, Seconds(0));
  EXPECT_GT(answer.draft_prompt_rated, answer.draft_rated);  // of a thousand tokens and more
  EXPECT_NEAR(answer.mean_power / training_power(constants.power, serving.cluster.accelerator,
                                                 rated / answer.latency),
              1, 1e-9);
}

// Apart, too: a second's passes of decode, and its prompts between which the others are idle.
TEST(ServedEnergy, OfGuessesApartIsOfAsManyFewerPasses) {
  Serving serving = testing::serving_of("llama-3-70b", "dgx-h100", 4, "fp8");
  serving.speculation = Speculation{{0.8, 3}, *load_model("llama-3-8b")};
  const ServingConstants constants = *serving_constants(serving.cluster);
  Load load = batch_of(1);
  load.arrivals = Arrivals::clients;
  const Served apart = served(ServingApart{serving, serving}, constants, load).all;
  const Accelerator& accelerator = serving.cluster.accelerator;
  const double requests = apart.output_per_second / 200;
  const double made = 1 + 0.8 + 0.8 * 0.8 + 0.8 * 0.8 * 0.8;
  const Seconds rated = 199 / made * (apart.decode.rated + apart.draft_rated);
  const Watts decode = training_power(constants.power, accelerator, rated.value() * requests);
  const double prompts = apart.prefill.total().value() * requests;
  const Watts prefill = prompts * apart.prefill_power + (1 - prompts) * idle_power(accelerator);
  EXPECT_NEAR(2 * apart.mean_power / (decode + prefill), 1, 1e-9);
}

// Boards set to 400 W draw no more, whatever the work.
TEST(ServedEnergy, KeepsToTheBoard) {
  auto [serving, constants] = case_of(8);
  serving.cluster.accelerator.board_power = Watts(400);
  const Served answer = served(serving, constants, batch_of(512));
  for (const Watts power : {answer.prefill_power, answer.decode_power, answer.mean_power}) {
    EXPECT_LE(power, Watts(400));
  }
}

// A server that hardly anybody asks draws what idle boards do; a token is dear then.
TEST(ServedEnergy, OfRareRequestsIsMostlyIdle) {
  const auto [serving, constants] = case_of(8);
  Load load{.input = 1000, .output = 200, .arrivals = Arrivals::random, .rate = 0.001};
  const Served rare = served(serving, constants, load);
  EXPECT_NEAR(rare.mean_power / serving.cluster.accelerator.idle_power, 1, 0.05);
  load.rate = 5;
  const Served often = served(serving, constants, load);
  EXPECT_GT(often.mean_power, rare.mean_power);
  EXPECT_LT(often.energy_of_token, rare.energy_of_token);
}

// Where prompts are long and answers short, they are most of what a request costs.
TEST(ServedEnergy, SharesARequestBetweenPromptAndAnswer) {
  const auto [serving, constants] = case_of(8);
  const double in =
      served(serving, constants, {.input = 8000, .output = 10, .batch = 8}).prompt_share;
  const double out =
      served(serving, constants, {.input = 100, .output = 2000, .batch = 8}).prompt_share;
  EXPECT_GT(in, 0.8);
  EXPECT_LT(out, 0.1);
}

// Requests of a file that are ten latencies apart leave the accelerator idle for most of the time,
// as those do that come at random moments as rarely.
TEST(ServedEnergy, OfAFileKnowsWhenNobodyIsThere) {
  const auto [serving, constants] = case_of(8);
  const Served alone = served(serving, constants, batch_of(1));
  auto listed = std::make_shared<std::vector<Listed>>();
  const double apart = 10 * alone.latency.value();
  for (int i = 0; i < 50; ++i) listed->push_back({i * apart, 1000, 200});
  Load load{.input = 1000, .output = 200, .arrivals = Arrivals::listed};
  load.listed = listed;
  const Served of_file = served(serving, constants, load);
  load = {.input = 1000, .output = 200, .arrivals = Arrivals::random, .rate = 1 / apart};
  const Served at_random = served(serving, constants, load);
  EXPECT_LT(of_file.mean_power, 0.4 * alone.mean_power);
  EXPECT_NEAR(of_file.mean_power / at_random.mean_power, 1, 0.05);
}

}  // namespace
}  // namespace headway
