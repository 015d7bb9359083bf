// [INFER-17] Closed forms beside requests placed in time.
#include "study/infer/load/closed.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random/random.hpp"
#include "study/infer/load/lengths.hpp"

namespace headway {
namespace {

// Weights take 5 to 30 ms, a token 2 to 40 us, one that attention reads 0.1 to 3 ns.
StepTimes drawn_steps() {
  StepTimes out;
  const double weights = *rc::gen::inRange(5, 30) * 1e-3, token = *rc::gen::inRange(2, 40) * 1e-6;
  out.tokens = {1, 100'000};
  out.work = {weights + token, weights + 100'000 * token};
  out.head = {0, 0};
  out.read_token = *rc::gen::inRange(1, 30) * 1e-10;
  return out;
}

double average(const std::vector<double>& of) {
  return std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
}

Load drawn_load() {
  Load out{.input = *rc::gen::inRange(50, 3000), .output = *rc::gen::inRange(100, 500)};
  out.output_spread = {LengthSpread::Kind::share, 0.2};
  out.input_spread = {LengthSpread::Kind::share, 0.5};
  return out;
}

// Less than half of a step's tokens: more wait for the next one now and then.
bool prompts_are_few(const Fluid& closed, const Load& load) {
  return closed.rate * closed.each_token * static_cast<double>(load.input) < 4096;
}

// Half to eight tenths of what it can answer: 20 % of the time of a token, 35 % of that to the
// first (17 and 28 % were the most of 40,000 cases).
RC_GTEST_PROP(ClosedForm, OfRandomRequestsIsThatOfTheirSimulation, ()) {
  const StepTimes steps = drawn_steps();
  Policy policy;
  Load load = drawn_load();
  load.arrivals = Arrivals::random;
  const Engined engine{steps, policy, 2e6};
  load.rate = *rc::gen::inRange(5, 8) / 10.0 * most_rate(engine, load);
  const auto closed = in_closed_form(engine, load);
  RC_ASSERT(closed.has_value());
  RC_PRE(prompts_are_few(*closed, load));
  // So many that the first, which find nobody there, do not count.
  load.count = 2000 + 20 * static_cast<std::int64_t>(closed->decoding);
  const Answered by = answered(engine, load);
  RC_ASSERT(std::abs(closed->each_token / average(by.each_token) - 1) < 0.2);
  RC_ASSERT(std::abs(closed->first_token / average(by.first_token) - 1) < 0.35);
}

// Clients whose answers are of 20 to 100 % of the length, half an answer after they began.
RC_GTEST_PROP(ClosedForm, OfClientsIsThatOfTheirSimulation, ()) {
  const StepTimes steps = drawn_steps();
  Policy policy;
  Load load = drawn_load();
  load.arrivals = Arrivals::clients;
  load.batch = *rc::gen::inRange(1, 300);
  load.count = 40 * load.batch;
  const Engined engine{steps, policy, 2e6};
  const auto closed = in_closed_form(engine, load);
  RC_ASSERT(closed.has_value());
  RC_PRE(prompts_are_few(*closed, load));
  const Answered by = answered(engine, load);
  RC_ASSERT(std::abs(closed->each_token / average(by.each_token) - 1) < 0.1);
  const double rate = static_cast<double>(by.latency.size()) / by.elapsed.value();
  RC_ASSERT(std::abs(closed->rate / rate - 1) < 0.1);
}

// Steps of 128 to 1,024 tokens, in which prompts are cut and what decodes takes a part: a small
// step makes each token sooner and answers fewer.
RC_GTEST_PROP(ClosedForm, OfClientsInSmallStepsIsThatOfTheirSimulation, ()) {
  const StepTimes steps = drawn_steps();
  Policy policy;
  policy.most_tokens = *rc::gen::element<std::int64_t>(128, 256, 512, 1024);
  Load load = drawn_load();
  load.arrivals = Arrivals::clients;
  load.batch = *rc::gen::inRange<std::int64_t>(1, policy.most_tokens / 2);
  load.count = 40 * load.batch;
  const Engined engine{steps, policy, 2e6};
  const auto closed = in_closed_form(engine, load);
  RC_ASSERT(closed.has_value());
  const Answered by = answered(engine, load);
  RC_ASSERT(std::abs(closed->each_token / average(by.each_token) - 1) < 0.25);
  const double rate = static_cast<double>(by.latency.size()) / by.elapsed.value();
  RC_ASSERT(std::abs(closed->rate / rate - 1) < 0.15);
}

// [INFER-18] In two to eight stages, where a step is as long as its fullest micro-batch, and
// prompts that come in one step lie in different ones.
RC_GTEST_PROP(ClosedForm, OfClientsInAPipelineIsNearThatOfTheirSimulation, ()) {
  StepTimes steps = drawn_steps();
  steps.stages = *rc::gen::inRange(2, 9);
  Policy policy;
  policy.most_tokens = *rc::gen::element<std::int64_t>(512, 2048, 8192);
  Load load = drawn_load();
  load.arrivals = Arrivals::clients;
  load.batch = *rc::gen::inRange(1, 300);
  load.count = 40 * load.batch;
  const Engined engine{steps, policy, 2e6};
  const auto closed = in_closed_form(engine, load);
  RC_ASSERT(closed.has_value());
  const Answered by = answered(engine, load);
  const double rate = static_cast<double>(by.latency.size()) / by.elapsed.value();
  RC_ASSERT(std::abs(closed->each_token / average(by.each_token) - 1) < 0.2);
  RC_ASSERT(std::abs(closed->rate / rate - 1) < 0.2);
}

// The same at random moments, at half to eight tenths of what it can answer. Where a step with a
// prompt is ten times as long as one without, more come in it than in the mean step, which the
// closed form does not know: it is up to half too long in one case of a hundred.
RC_GTEST_PROP(ClosedForm, OfRandomRequestsToAPipelineIsNearThatOfTheirSimulation, ()) {
  StepTimes steps = drawn_steps();
  steps.stages = *rc::gen::inRange(2, 9);
  const Policy policy;
  Load load = drawn_load();
  load.arrivals = Arrivals::random;
  const Engined engine{steps, policy, 2e6};
  load.rate = *rc::gen::inRange(5, 8) / 10.0 * most_rate(engine, load);
  const auto closed = in_closed_form(engine, load);
  RC_ASSERT(closed.has_value());
  load.count = 2000 + 20 * static_cast<std::int64_t>(closed->decoding);
  const Answered by = answered(engine, load);
  RC_ASSERT(std::abs(closed->each_token / average(by.each_token) - 1) < 0.6);
  RC_ASSERT(std::abs(closed->first_token / average(by.first_token) - 1) < 0.4);
}

// With room for few the others wait, and what is answered is what those few make.
TEST(ClosedForm, OfClientsThatFindNoRoomIsTheMostThatIsAnswered) {
  StepTimes steps;
  steps.tokens = {1, 100'000};
  steps.work = {0.01, 0.5};
  steps.head = {0, 0};
  const Policy policy;
  Load load{.input = 500, .output = 200, .arrivals = Arrivals::clients, .batch = 100};
  load.output_spread = {LengthSpread::Kind::share, 0.5};
  const Engined engine{steps, policy, 13'000};
  load.count = 3000;
  const auto closed = in_closed_form(engine, load);
  ASSERT_TRUE(closed);
  const Answered by = answered(engine, load);
  EXPECT_NEAR(closed->rate / (3000 / by.elapsed.value()), 1, 0.05);
  EXPECT_NEAR(closed->first_token / average(by.first_token), 1, 0.1);
}

// Kernels that take no longer, or less, with a few rows more than 1,000: a client alone is not told
// that of a thousand.
TEST(ClosedForm, StandsOnStepsThatTakeNoLongerWithAPrompt) {
  StepTimes steps;
  steps.tokens = {1, 1000, 1100, 100'000};
  steps.work = {0.005, 0.012, 0.011, 0.9};
  steps.head = {0, 0, 0, 0};
  const Policy policy;
  const Load load{.input = 2, .output = 3, .arrivals = Arrivals::clients, .batch = 1};
  const auto closed = in_closed_form({steps, policy, 1e6}, load);
  ASSERT_TRUE(closed);
  EXPECT_NEAR(closed->each_token, 0.005, 1e-4);
  EXPECT_NEAR(closed->first_token, 0.005, 1e-4);
}

// A prompt of 16,000 tokens in eight steps, with nobody beside it: each token passes once.
TEST(ClosedForm, OfAPromptInPiecesIsTheSumOfItsPieces) {
  StepTimes steps;
  steps.tokens = {1, 100'000};
  steps.work = {0.01, 0.01 + 99'999 * 20e-6};
  steps.head = {0, 0};
  Policy policy;
  policy.most_tokens = 2000;
  Load load{.input = 16'000, .output = 50, .arrivals = Arrivals::clients, .batch = 1};
  const Engined engine{steps, policy, 1e6};
  const auto closed = in_closed_form(engine, load);
  ASSERT_TRUE(closed);
  EXPECT_NEAR(closed->first_token / average(answered(engine, load).first_token), 1, 0.05);
  EXPECT_NEAR(closed->first_token, 8 * 0.01 + 16'000 * 20e-6, 0.01);
}

TEST(ClosedForm, KnowsNoAnswerBeyondTheHighestRate) {
  StepTimes steps;
  steps.tokens = {1, 100'000};
  steps.work = {0.01, 0.5};
  steps.head = {0, 0};
  const Policy policy;
  Load load{.input = 500, .output = 200, .arrivals = Arrivals::random};
  const Engined engine{steps, policy, 1e5};
  load.rate = 0.99 * most_rate(engine, load);
  EXPECT_TRUE(in_closed_form(engine, load));
  load.rate = 1.01 * most_rate(engine, load);
  EXPECT_FALSE(in_closed_form(engine, load));
}

// M/G/1: prompts of log-normal lengths, one at a time, at 60 % of what is answered.
TEST(QueueWait, IsThatOfPromptsAtRandom) {
  StepTimes steps;
  steps.tokens = {1, 100'000'000};
  steps.work = {1e-6, 100};
  steps.head = {0, 0};
  Policy policy;
  policy.most_sequences = 1;
  policy.most_tokens = 100'000'000;
  Load load{.input = 10'000, .output = 1, .arrivals = Arrivals::random, .rate = 60};
  load.input_spread = {LengthSpread::Kind::log_normal, 0.7};
  load.count = 200'000;
  const Answered by = answered({steps, policy, 1e9}, load);
  // A prompt takes 10 ms in the mean, its square 1 + 0.7² times as much.
  const double expected = 0.01 + *queue_wait(60, 0.01, 1e-4 * 1.49);
  EXPECT_NEAR(average(by.first_token) / expected, 1, 0.03);
  EXPECT_FALSE(queue_wait(101, 0.01));
}

// A line of stages, each with the same part of a prompt: a prompt begins in each when the one
// before it has left it. Nothing of the closed form is used.
double time_in_a_line(double rate, double service, int stages) {
  SplitMix numbers{11};
  std::vector<double> free(static_cast<std::size_t>(stages), 0.0);
  double moment = 0, sum = 0;
  constexpr int kPrompts = 400'000;
  for (int i = 0; i < kPrompts; ++i) {
    moment -= std::log(1 - static_cast<double>(numbers.next() >> 11U) * 0x1p-53) / rate;
    double at = moment;
    for (double& stage : free) {
      at = std::max(at, stage) + service / stages;
      stage = at;
    }
    sum += at - moment;
  }
  return sum / kPrompts;
}

TEST(PromptTime, OfTensorsAndOfStagesIsThatOfTheirQueues) {
  for (const double load : {0.2, 0.6, 0.9}) {
    // Two accelerators: 1.7 times as fast together, or one half of the layers each.
    EXPECT_NEAR(*prompt_time_of_stages(load * 2, 1, 2) / time_in_a_line(load * 2, 1, 2), 1, 0.05);
    EXPECT_NEAR(
        *prompt_time_of_tensors(load * 1.7, 1, 1.7) / time_in_a_line(load * 1.7, 1 / 1.7, 1), 1,
        0.05);
  }
  // DistServe's finding: at low rates tensors, at high ones stages.
  EXPECT_LT(*prompt_time_of_tensors(0.1, 1, 1.7), *prompt_time_of_stages(0.1, 1, 2));
  EXPECT_GT(*prompt_time_of_tensors(1.6, 1, 1.7), *prompt_time_of_stages(1.6, 1, 2));
}

// [INFER-19] Clients of prefill and decode apart: what is answered, within 30 %:
// prompts wait for each other a little where neither part is short, which the closed form leaves
// out.
RC_GTEST_PROP(ClosedForm, OfPrefillAndDecodeApartIsThatOfTheirSimulation, ()) {
  const StepTimes prefill = drawn_steps(), decode = drawn_steps();
  Policy policy;
  Load load = drawn_load();
  load.arrivals = Arrivals::clients;
  load.batch = *rc::gen::inRange(1, 400);
  load.count = 40 * load.batch;
  const Apart apart{{prefill, policy, 2e6},
                    {decode, policy, 2e6},
                    *rc::gen::inRange(1, 4),
                    *rc::gen::inRange(1, 4),
                    1e-6,
                    1e-4,
                    1};
  const auto closed = in_closed_form(apart, load);
  RC_ASSERT(closed.has_value());
  const Answered by = answered(apart, load);
  const double rate = static_cast<double>(by.latency.size()) / by.elapsed.value();
  RC_ASSERT(std::abs(closed->rate / rate - 1) < 0.3);
  RC_ASSERT(std::abs(closed->each_token / average(by.each_token) - 1) < 0.12);
}

// Clients of one length that begin together: their prompts stay together. The last step of prompts
// may have a few alone, which this does not tell from the others: the first token is the rougher.
RC_GTEST_PROP(ClosedForm, InStepIsThatOfClientsOfOneLength, ()) {
  const StepTimes steps = drawn_steps();
  Policy policy;
  policy.prompts_first = *rc::gen::arbitrary<bool>();
  policy.whole_prompts = *rc::gen::arbitrary<bool>();
  Load load{.input = *rc::gen::inRange(50, 3000), .output = *rc::gen::inRange(100, 500)};
  load.arrivals = Arrivals::clients;
  load.batch = *rc::gen::inRange(1, 300);
  const Engined engine{steps, policy, 2e6};
  const Fluid closed = in_step(engine, load);
  const Answered by = answered(engine, load);
  RC_ASSERT(std::abs(closed.each_token / average(by.each_token) - 1) < 0.1);
  RC_ASSERT(std::abs(closed.rate / steady_rate(by) - 1) < 0.06);
  RC_ASSERT(std::abs(closed.first_token / average(by.first_token) - 1) < 0.5);
}

}  // namespace
}  // namespace headway
