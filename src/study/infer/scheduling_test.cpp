// [INFER-10] [INFER-12]
#include <gtest/gtest.h>

#include <numeric>

#include "study/infer/load/closed.hpp"
#include "study/infer/serving_for_test.hpp"
#include "study/infer/steps.hpp"

namespace headway {
namespace {

constexpr std::int64_t kInput = 1000, kOutput = 401;
constexpr double kRoom = 1e9;  // tokens: never short

Serving scheduled(const Policy& by) {
  Serving out = testing::serving_of("llama-3-8b", "dgx-h100");
  out.engine.policy = by;
  return out;
}

struct Way {
  StepTimes steps;
  Answered by;
};
Way way_of(const Policy& by, const Load& load) {
  const Serving serving = scheduled(by);
  const StepTimes steps =
      step_times(serving, *serving_constants(serving.cluster), load.input, load.output);
  return {steps, answered({steps, by, kRoom}, load)};
}

// A step with so many prompts of `kInput` tokens, whole.
StepLoad step_of(double decoding, double cached, double prompts = 1) {
  const double tokens = kInput;
  return {.decoding = decoding,
          .cached = cached,
          .prompt = prompts * tokens,
          .prompts = prompts,
          .pairs = prompts * tokens * tokens,
          .piece = tokens};
}

Load clients(std::int64_t count) {
  return {.input = kInput, .output = kOutput, .arrivals = Arrivals::clients, .batch = count};
}

// [INFER-16] The host handles a prompt once, whoever else takes it in: 10 ms, and 2 us a token.
TEST(Guesses, HaveTheHostTakeAPromptOnce) {
  Serving serving = testing::serving_of("llama-3-70b", "dgx-h100", 4, "fp8");
  serving.speculation = Speculation{{0.8, 3}, *load_model("llama-3-8b")};
  const ServingConstants constants = *serving_constants(serving.cluster);
  const auto first_by = [&](double prompt, double token, const Load& load) {
    serving.engine.prompt = Seconds(prompt);
    serving.engine.token = Seconds(token);
    return served(serving, constants, load).first_token.value();
  };
  const Load one = clients(1);
  EXPECT_NEAR(first_by(10e-3, 2e-6, one) - first_by(0, 0, one), 10e-3 + kInput * 2e-6, 1e-9);
}

// At random moments a request finds the look before the last of so many steps: it waits for half of
// them in the mean, and the rest of the step that runs.
TEST(Scheduling, WithPollsARequestWaitsHalfTheStepsBetweenThem) {
  const Load load{.input = 16,
                  .output = 2000,
                  .arrivals = Arrivals::random,
                  .rate = 1};  // some ten are decoded at any time
  const auto mean_first = [&](std::int64_t polls) {
    const Answered by = way_of({.polls = polls}, load).by;
    return std::accumulate(by.first_token.begin(), by.first_token.end(), 0.0) /
           static_cast<double>(by.first_token.size());
  };
  const Way way = way_of({}, load);
  double each = 0;
  for (const double token : way.by.each_token) each += token;
  each /= static_cast<double>(way.by.each_token.size());
  constexpr std::int64_t kPolls = 40;
  const double waits = mean_first(kPolls) - mean_first(1);
  EXPECT_NEAR(waits, (kPolls - 1) / 2.0 * each, 0.15 * kPolls / 2.0 * each);
}

// [INFER-10] One prompt does not fill a step of 8,192 tokens: it waits for 40 steps, and whoever
// comes meanwhile joins it. Of a step that has an eighth of that none waits. Beside the closed
// form.
TEST(Scheduling, WithPromptsThatAreGatheredEachWaitsForOthers) {
  const Load load{.input = kInput,
                  .output = 2000,
                  .arrivals = Arrivals::random,
                  .rate = 1};  // some ten are decoded at any time
  constexpr std::int64_t kGathers = 40;
  const Policy alone, gathers{.whole_prompts = true, .gathers = kGathers};
  const Policy few{.whole_prompts = true, .gathers = kGathers, .gathered = 0.12};
  const auto mean = [](const std::vector<double>& of) {
    return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
  };
  const Way way = way_of(alone, load);
  const double step = mean(way.by.each_token), at_once = mean(way.by.first_token);
  const double waits = mean(way_of(gathers, load).by.first_token) - at_once;
  // So many come while one waits, and wait half as long.
  const double others = load.rate * kGathers * step;
  const double expected = kGathers * step * (1 + others / 2) / (1 + others);
  EXPECT_NEAR(waits / expected, 1, 0.1);
  const auto in_closed = [&](const Policy& by) {
    return in_closed_form(Engined{way.steps, by, kRoom}, load)->first_token;
  };
  EXPECT_NEAR((in_closed(gathers) - in_closed(alone)) / expected, 1, 0.1);
  EXPECT_NEAR(mean(way_of(few, load).by.first_token) / at_once, 1, 0.05);
}

// Of eight prompts at once with room for one and a half: the i-th waits for i steps of one prompt
// each, where in pieces the last ends after as many steps as all tokens need.
TEST(Scheduling, OfWholePromptsLeavesRoomThatNoWholeOneFills) {
  const Load load = clients(8);
  const Policy whole{.most_tokens = 1500, .whole_prompts = true};
  const Way way = way_of(whole, load);
  double now = 0, cached = 0;
  for (int i = 0; i < 8; ++i) {
    now += way.steps.of(step_of(i, cached));
    EXPECT_NEAR(way.by.first_token[static_cast<std::size_t>(i)], now, 1e-9 * now);
    cached += i + kInput;
  }
  const Answered cut = way_of({.most_tokens = 1500}, load).by;
  EXPECT_LT(cut.first_token[7], way.by.first_token[7]);
}

// A prompt that is longer than a step is taken whole.
TEST(Scheduling, OfWholePromptsTakesThoseThatAreLongerThanAStep) {
  const Way way = way_of({.most_tokens = 100, .whole_prompts = true}, clients(1));
  EXPECT_NEAR(way.by.first_token[0], way.steps.of(step_of(0, 0)), 1e-12);
}

// What decodes waits for the prompts of others: with prompts apart, the whole time is that of all
// prompt steps and all decode steps.
TEST(Scheduling, OfPromptsApartDecodesNothingBesideThem) {
  Load load = clients(2);
  const Way apart = way_of({.most_tokens = kInput, .prompts_first = true}, load);
  // Both prompts first, one a step, before either decodes.
  const double prompt = apart.steps.of(step_of(0, 0));
  EXPECT_NEAR(apart.by.first_token[1], 2 * prompt, 1e-9);
  const Way mixed = way_of({.most_tokens = kInput + 1}, load);
  EXPECT_GT(mixed.by.first_token[1], 2 * prompt);  // the first one decodes beside the second
}

// Of Llama 3 8B with its 8 heads of keys for 32 of queries: 64 sequences of 4,096 tokens are read
// as if there were 32, at this share of the bandwidth; products take their FLOPs at this share of
// the peak, 2 a parameter but for embeddings, and prompts as before.
TEST(UntunedKernels, BoundADecodePassByTheirShares) {
  Serving serving = scheduled({});
  const ServingConstants constants = *serving_constants(serving.cluster);
  const PassWork decode{.sequences = 64, .tokens = 1, .cached = 4095};
  const PassWork prompt{.sequences = 4, .tokens = 512};
  const Seconds before = time_of(serving, constants, prompt).total();
  serving.engine.untuned["hopper"] = {0.01, 0.4};
  const PassTime pass = time_of(serving, constants, decode);
  const double read = 64 * 4096.0 * 2 * 32 * 32 * 128 * 2;  // bytes of all layers
  const double starts = 32 * constants.kernels.decode.start.value();
  const Accelerator& accelerator = serving.cluster.accelerator;
  EXPECT_NEAR(pass.parts[1].value(), starts + read / (0.4 * accelerator.memory_bandwidth.value()),
              1e-9);
  const double parameters = 8.03e9 - 128256.0 * 4096;
  const double rate = 0.01 * accelerator.peak_of(Precision::bf16).value();
  EXPECT_NEAR(pass.parts[0].value(), 2 * 64 * parameters / rate, 0.01 * pass.parts[0].value());
  EXPECT_EQ(time_of(serving, constants, prompt).total(), before);
}

// One sequence reads each parameter but embeddings once, in 16 bits, at this share of the
// bandwidth, and so does a short prompt; a long one computes for longer than that.
TEST(UntunedKernels, ReadWeightsAtTheirShare) {
  Serving serving = scheduled({});
  const ServingConstants constants = *serving_constants(serving.cluster);
  serving.engine.untuned["hopper"] = {.weights = 0.1};
  const PassTime pass = time_of(serving, constants, {.tokens = 1, .cached = 100});
  const double bytes = 2 * (8.03e9 - 128256.0 * 4096);
  const double rate = 0.1 * serving.cluster.accelerator.memory_bandwidth.value();
  EXPECT_NEAR(pass.parts[0].value(), bytes / rate, 0.01 * pass.parts[0].value());
  const PassTime prompt = time_of(serving, constants, {.tokens = 16});
  EXPECT_NEAR(prompt.parts[0].value(), bytes / rate, 0.01 * prompt.parts[0].value());
  EXPECT_GT(time_of(serving, constants, {.tokens = 8192}).parts[0], 2 * pass.parts[0]);
}

// DeepSeek-V3's experts in 8 bits by blocks at a fifth of the rate: of a prompt of 8,192 tokens on
// eight ranks they are products of 256 rows, whose work five times as long stands beside other
// products; what reads weights alone, as decoding does, stays. Behind an exchange by kernels of
// its own the share is another one.
TEST(UntunedKernels, SlowExpertsOfPromptsInBlocksAndNothingElse) {
  const auto products = [](const Serving& serving, const PassWork& work) {
    return time_of(serving, *serving_constants(serving.cluster), work)[ServingPart::products];
  };
  const PassWork prompt{.tokens = 8192}, decode{.sequences = 64, .tokens = 1, .cached = 1000};
  Serving serving = testing::serving_of("deepseek-v3", "dgx-b200", 8, "fp8-block");
  serving.engine.untuned.clear();
  const Seconds before = products(serving, prompt), decoded = products(serving, decode);
  serving.engine.untuned["blackwell"] = {.blocks = 0.2, .exchanged = 1};
  // 3 products of 2·7168·2048/8 for each of 8 choices, in 58 layers.
  const double work = 58 * 8192.0 * 8 * 3 * 2 * 7168 * 2048 / 8;
  const double peak = serving.cluster.accelerator.peak_of(Precision::fp8).value();
  EXPECT_GT(products(serving, prompt).value(), 5 * work / peak);
  EXPECT_GT(products(serving, prompt), before + Seconds(3 * work / peak));
  EXPECT_EQ(products(serving, decode), decoded);
  Serving others = testing::serving_of("deepseek-v3", "dgx-b200", 8, "fp8");
  others.engine.untuned.clear();
  const Seconds whole = products(others, prompt);
  others.engine.untuned = serving.engine.untuned;
  EXPECT_EQ(products(others, prompt), whole);
  serving.own_exchange = true;
  EXPECT_EQ(products(serving, prompt), before);
  serving.engine.untuned["blackwell"].exchanged = 0;
  EXPECT_GT(products(serving, prompt), before);
}

// [INFER-28] Groups of 4 queries where kernels have those of 2: each head of queries reads its own
// keys, four times the bytes of 8 heads, at 1.3 times the memory's bandwidth.
TEST(GroupedAttention, ThatKernelsLackReadsForEachHeadOfQueries) {
  Serving serving = scheduled({});
  const ServingConstants constants = *serving_constants(serving.cluster);
  const PassWork decode{.sequences = 64, .tokens = 1, .cached = 4095};
  const Seconds before = time_of(serving, constants, decode)[ServingPart::attention];
  serving.engine.grouped = {.queries = 16, .head_dim = 128, .others = 1.3};
  EXPECT_EQ(time_of(serving, constants, decode)[ServingPart::attention], before);
  serving.engine.grouped.queries = 2;
  const double read = 64 * 4096.0 * 2 * 32 * 32 * 128 * 2;  // bytes of all layers
  const double starts = 32 * constants.kernels.decode.start.value();
  const double bandwidth = serving.cluster.accelerator.memory_bandwidth.value();
  const double expected = starts + read / (1.3 * bandwidth);
  EXPECT_NEAR(time_of(serving, constants, decode)[ServingPart::attention].value(), expected,
              0.01 * expected);
}

}  // namespace
}  // namespace headway
