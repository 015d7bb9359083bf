#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>

#include "study/infer/load/closed.hpp"
#include "study/infer/load/lengths.hpp"
#include "study/infer/load/line_of_stages_for_test.hpp"

namespace headway {
namespace {

// Any step 10 ms, as weights take to read, 10 us a token, 1 us each token that attention reads.
StepTimes even_steps() {
  StepTimes out;
  out.tokens = {1, 100'000};
  out.work = {0.01 + 1e-5, 0.01 + 1};
  out.head = {0, 0};
  out.read_token = 1e-6;
  out.pair = 1e-9;
  return out;
}

// A step takes 10 ms whatever is in it.
StepTimes steps_of_ten_ms() {
  StepTimes out;
  out.tokens = {1, 1e9};
  out.work = {0.01, 0.01};
  out.head = {0, 0};
  return out;
}

double sum_over(const std::vector<double>& of) {
  return std::accumulate(of.begin(), of.end(), 0.0);
}
double mean_over(const std::vector<double>& of) {
  return sum_over(of) / static_cast<double>(of.size());
}

// A policy, a load of clients or random moments, and the room of a cache.
struct Case {
  Policy policy;
  Load load;
  double room;
};
Case any_case() {
  Case out;
  out.policy.most_tokens = *rc::gen::inRange(16, 4000);
  out.policy.most_sequences = *rc::gen::inRange(1, 64);
  out.policy.prompts_first = *rc::gen::arbitrary<bool>();
  out.policy.whole_prompts = *rc::gen::arbitrary<bool>();
  out.policy.polls = *rc::gen::element(1, 1, 7);
  out.policy.gathers = *rc::gen::element(0, 0, 5);
  out.policy.gathered = *rc::gen::element(0.5, 1.0);
  out.policy.reserve = *rc::gen::arbitrary<bool>();
  out.policy.block = *rc::gen::element(1, 16, 64);
  out.load.input = *rc::gen::inRange(1, 2000);
  out.load.output = *rc::gen::inRange(1, 300);
  out.load.input_spread = {*rc::gen::element(LengthSpread::Kind::share, LengthSpread::Kind::normal,
                                             LengthSpread::Kind::log_normal),
                           *rc::gen::inRange(0, 100) / 100.0};
  out.load.output_spread = out.load.input_spread;
  out.load.arrivals = *rc::gen::element(Arrivals::clients, Arrivals::random);
  out.load.batch = *rc::gen::inRange(1, 80);
  out.load.rate = *rc::gen::inRange(1, 100) / 10.0;
  out.load.count = *rc::gen::inRange(1, 200);
  out.load.prefix_hit = *rc::gen::inRange(0, 10) / 10.0;
  out.room = *rc::gen::inRange(100, 100'000);
  return out;
}
// [INFER-18] In so many stages.
StepTimes any_steps() {
  StepTimes out = even_steps();
  out.stages = *rc::gen::element(1, 1, 2, 4);
  out.copies = *rc::gen::element(1, 1, 3);
  return out;
}

// When forty requests that are there at once end, and how many were put back, with as many steps at
// once as are alike, or one by one.
struct Ended {
  std::vector<double> at;
  std::int64_t put_back = 0;
};
Ended ended(const Case& c, const StepTimes& steps, bool one_by_one) {
  Server server(steps, c.policy, c.room);
  Lengths lengths(c.load);
  for (int i = 0; i < 40; ++i) {
    const Listed drawn = lengths.next();
    Request request;
    request.input = request.left = static_cast<double>(drawn.input);
    request.output = static_cast<double>(drawn.output);
    request.steps = drawn.output - 1;
    server.take(request, 0);
  }
  Ended out;
  while (server.busy()) {
    const auto answered = one_by_one ? server.step(server.now()) : server.step();
    for (const Request& request : answered) out.at.push_back(request.end);
  }
  out.put_back = server.put_back();
  return out;
}

// [INFER-7] Steps that are alike are made at once: as one after another, to the rounding.
RC_GTEST_PROP(Requests, TakeAsLongManyStepsAtOnceAsOneByOne, ()) {
  const Case c = any_case();
  const StepTimes steps = any_steps();
  const Ended at_once = ended(c, steps, false), each = ended(c, steps, true);
  RC_ASSERT(at_once.at.size() == 40U);
  RC_ASSERT(each.at.size() == at_once.at.size());
  for (std::size_t i = 0; i < each.at.size(); ++i) {
    RC_ASSERT(std::abs(at_once.at[i] / each.at[i] - 1) < 1e-9);
  }
  RC_ASSERT(at_once.put_back == each.put_back);
}

// [INFER-15] Where one decodes beside prompts that wait for more of them, a prompt goes out when
// the cache is full, and not when that one has decoded all its steps.
TEST(Requests, ArePutBackWhileOneDecodesBesidePromptsThatWait) {
  Case c;
  c.policy = {.most_tokens = 109,
              .most_sequences = 3,
              .prompts_first = true,
              .gathers = 5,
              .gathered = 0.5,
              .reserve = false,
              .block = 16};
  c.load = {.input = 32, .output = 30};
  c.load.input_spread = c.load.output_spread = {LengthSpread::Kind::share, 0.11};
  c.room = 103;
  const Ended at_once = ended(c, even_steps(), false), each = ended(c, even_steps(), true);
  EXPECT_EQ(at_once.put_back, each.put_back);
  EXPECT_NEAR(at_once.at.back() / each.at.back(), 1, 1e-9);
}

// Whatever the policy: every request is answered in full, none of its tokens comes sooner than the
// weights are read, and its first not before its prompt is computed.
RC_GTEST_PROP(Requests, AreAllAnsweredAndNoneFasterThanTheWeightsAreRead, ()) {
  const Case c = any_case();
  const StepTimes steps = any_steps();
  const Answered by = answered({steps, c.policy, c.room}, c.load);
  RC_ASSERT(by.latency.size() == static_cast<std::size_t>(c.load.count));
  Lengths lengths(c.load);
  double tokens = 0, prompts = 0;
  for (std::int64_t i = 0; i < c.load.count; ++i) {
    if (c.load.arrivals == Arrivals::random) lengths.pause();
    const Listed drawn = lengths.next();
    tokens += static_cast<double>(drawn.output);
    prompts += static_cast<double>(drawn.input);
  }
  RC_ASSERT(by.tokens == tokens);
  RC_ASSERT(by.prompts == prompts);
  RC_ASSERT(by.most <= static_cast<double>(c.policy.most_sequences));
  for (std::size_t i = 0; i < by.latency.size(); ++i) {
    RC_ASSERT(by.first_token[i] >= 0.01);
    RC_ASSERT(std::isnan(by.each_token[i]) || by.each_token[i] >= 0.01);
    RC_ASSERT(by.latency[i] >= by.first_token[i]);
  }
}

// [INFER-14] Mean and deviation of many draws are those that were asked for.
TEST(Lengths, LieAboutTheirMeanAsTheirSpreadSays) {
  const auto drawn = [](LengthSpread spread) {
    SplitMix numbers{3};
    double sum = 0, squares = 0;
    constexpr int kDraws = 40'000;
    for (int i = 0; i < kDraws; ++i) {
      const double length = static_cast<double>(drawn_length(spread, 10'000, numbers));
      sum += length / kDraws;
      squares += length * length / kDraws;
    }
    return std::pair(sum, std::sqrt(squares - sum * sum) / sum);
  };
  const auto [share, of_share] = drawn({LengthSpread::Kind::share, 0.8});
  EXPECT_NEAR(share, 9000, 20);
  EXPECT_NEAR(of_share, 0.2 / std::sqrt(12) / 0.9, 0.001);
  const auto [normal, of_normal] = drawn({LengthSpread::Kind::normal, 0.2});
  EXPECT_NEAR(normal, 10'000, 40);
  EXPECT_NEAR(of_normal, 0.2, 0.003);
  const auto [skewed, of_skewed] = drawn({LengthSpread::Kind::log_normal, 0.8});
  EXPECT_NEAR(skewed, 10'000, 150);
  EXPECT_NEAR(of_skewed, 0.8, 0.03);
  const auto [constant, of_constant] = drawn({});
  EXPECT_EQ(constant, 10'000);
  EXPECT_NEAR(of_constant, 0, 1e-6);
}

// Of log-normal prompts the share beyond what answers leave: the normal integral of their
// logarithm; of requests of one length, and of a file, none.
TEST(Lengths, BeyondTheLongestAreAsManyAsTheirSpreadHas) {
  Load load{.input = 2000, .output = 192};
  load.longest = 8192;
  EXPECT_EQ(share_cut(load), 0);
  load.input_spread = {LengthSpread::Kind::log_normal, 2};
  const double variance = std::log(1 + 4.0);
  const double z = (std::log(8000.0 / 2000) + variance / 2) / std::sqrt(variance);
  EXPECT_NEAR(share_cut(load), std::erfc(z / std::sqrt(2.0)) / 2, 0.005);
  load.longest = 0;
  EXPECT_EQ(share_cut(load), 0);
  load.longest = 8192;
  load.listed = std::make_shared<const std::vector<Listed>>(std::vector<Listed>{{0, 100, 10}});
  EXPECT_EQ(share_cut(load), 0);
}

TEST(Lengths, AreNoLongerThanTheLongest) {
  Load load{.input = 3000, .output = 3000, .longest = 4096};
  load.input_spread = load.output_spread = {LengthSpread::Kind::log_normal, 2};
  Lengths lengths(load);
  for (int i = 0; i < 1000; ++i) {
    const Listed drawn = lengths.next();
    EXPECT_LE(drawn.input + drawn.output, 4096);
    EXPECT_GE(drawn.output, 1);
  }
}

// Moments and lengths of a list, whose last request comes when all before it are answered.
TEST(Requests, OfAListComeAtItsMoments) {
  const StepTimes steps = even_steps();
  const Policy policy;
  Load load{.arrivals = Arrivals::listed};
  load.listed = std::make_shared<const std::vector<Listed>>(
      std::vector<Listed>{{0, 100, 3}, {0.001, 50, 2}, {100, 10, 1}});
  const Answered by = answered({steps, policy, 1e6}, load);
  ASSERT_EQ(by.latency.size(), 3U);
  EXPECT_NEAR(by.elapsed.value(), 100 + 0.01 + 10e-5 + 1e-9 * 100, 1e-9);
  EXPECT_NEAR(by.latency.back(), by.elapsed.value() - 100, 1e-9);
  // The second waits for the first's prompt: 10 ms + 100 tokens, then its own beside one decoded.
  const double first = 0.01 + 100e-5 + 1e-9 * 100 * 100;
  const double both = 0.01 + 51e-5 + 1e-6 * 100 + 1e-9 * 50 * 50;
  EXPECT_NEAR(by.first_token[0] + by.first_token[1], first + first + both - 0.001, 1e-9);
}

// [INFER-15] Of a prompt of s tokens a share h is held: s(1 - h) tokens pass, and attention is over
// s² - (hs)² pairs.
TEST(Requests, OfAPrefixThatIsHeldComputeTheRestAlone) {
  const StepTimes steps = even_steps();
  const Policy policy;
  Load load{.input = 1000, .output = 1, .arrivals = Arrivals::clients, .batch = 1};
  load.prefix_hit = 0.6;
  const Answered by = answered({steps, policy, 1e6}, load);
  EXPECT_NEAR(mean_over(by.first_token), 0.01 + 400e-5 + 1e-9 * (1e6 - 0.36e6), 1e-9);
}

// [INFER-15] Room for eight answers: taken in with all their room eight are at a time; with that of
// their prompts alone more, of which some are put back, and computed anew.
TEST(Requests, ThatFindTheCacheFullAreComputedAnew) {
  const StepTimes steps = even_steps();
  Policy policy;
  Load load{.input = 100, .output = 400, .arrivals = Arrivals::clients, .batch = 20};
  const Answered reserved = answered({steps, policy, 4000}, load);
  EXPECT_EQ(reserved.most, 8);
  EXPECT_EQ(reserved.put_back, 0);
  policy.reserve = false;
  const Answered crowded = answered({steps, policy, 4000}, load);
  EXPECT_GT(crowded.most, 12);
  EXPECT_GT(crowded.put_back, 0);
  EXPECT_EQ(crowded.tokens, reserved.tokens);
  // With room for all nobody is.
  EXPECT_EQ(answered({steps, policy, 20 * 500}, load).put_back, 0);
}

// Prompts in steps of their own hold up whoever decodes; beside it they share its step.
TEST(Requests, WhosePromptsComeFirstHoldUpOthersTokens) {
  const StepTimes steps = even_steps();
  Policy mixed, apart;
  apart.prompts_first = true;
  Load load{.input = 500, .output = 100, .arrivals = Arrivals::random, .rate = 3};
  load.output_spread = {LengthSpread::Kind::share, 0.2};
  const Answered beside = answered({steps, mixed, 1e6}, load);
  const Answered first = answered({steps, apart, 1e6}, load);
  EXPECT_GT(mean_over(first.each_token), 1.02 * mean_over(beside.each_token));
}

// [INFER-16] (1 - c^(g+1))/(1 - c) tokens of a pass, as many draws say.
TEST(Drafting, MakesAsManyTokensOfAPassAsAreRight) {
  EXPECT_NEAR((Drafting{0.8, 3}.made()), 1 + 0.8 + 0.64 + 0.512, 1e-12);
  EXPECT_EQ((Drafting{1, 3}.made()), 4);
  EXPECT_EQ((Drafting{0, 3}.made()), 1);
  StepTimes steps = even_steps();
  steps.read_token = 0;
  steps.checked = 4;
  const Policy policy;
  const Load load{.input = 1, .output = 2001, .arrivals = Arrivals::clients, .batch = 1};
  const Answered by = answered({steps, policy, 1e6, {0.8, 3}}, load);
  const double made = Drafting{0.8, 3}.made();
  EXPECT_NEAR(mean_over(by.each_token) * made / (0.01 + 4e-5), 1, 0.01);
}

// N clients, one token of each a step: N/(o·10 ms) requests a second, however lengths are spread.
TEST(Load, IsSteadyWhateverTheLastAnswersTake) {
  const StepTimes steps = steps_of_ten_ms();
  Policy policy;
  policy.most_tokens = 1'000'000;
  Load load{.input = 1, .output = 200, .arrivals = Arrivals::clients, .batch = 400};
  for (const double spread : {0.0, 0.5, 0.9}) {
    load.output_spread = {LengthSpread::Kind::log_normal, spread};
    const Answered by = answered({steps, policy, 1e9}, load);
    const double tokens = by.tokens / static_cast<double>(by.latency.size());
    EXPECT_NEAR(steady_rate(by) * tokens * 0.01 / 400, 1, 0.05) << spread;
    const double whole = by.tokens / by.elapsed.value() * 0.01 / 400;
    if (spread > 0) {
      EXPECT_LT(whole, 0.85);
    }
  }
}

// [INFER-8] What the host does for each prompt that begins, and each token of it, and nobody hides.
TEST(StepTimes, OfPromptsHaveWhatTheHostDoesForEach) {
  StepTimes steps = even_steps();
  const StepLoad load{.decoding = 8, .cached = 800, .prompt = 100, .prompts = 2, .pairs = 1e4};
  const double before = steps.of(load);
  steps.begin = 1e-3;
  steps.token = 1e-6;
  EXPECT_NEAR(steps.of(load) - before, 2 * 1e-3 + 100 * 1e-6, 1e-12);
  const double alone = steps.of({.decoding = 8, .cached = 800});
  steps.begin = steps.token = 0;
  EXPECT_EQ(steps.of({.decoding = 8, .cached = 800}), alone);
}

// Of clients that begin together the last waits for what all before it cost the host, too: the
// first tokens of n of them are half of that later in the mean.
TEST(Answered, OfManyClientsWaitForWhatEachPromptCostsTheHost) {
  StepTimes steps = even_steps();
  Load load{.input = 100, .output = 1, .arrivals = Arrivals::clients, .batch = 64, .count = 64};
  const Policy policy{.most_tokens = 100, .whole_prompts = true};
  const Engined engine{steps, policy, 1e9};
  const double before = mean_over(answered(engine, load).first_token);
  steps.begin = 2e-3;
  EXPECT_NEAR(mean_over(answered(engine, load).first_token) - before, 65.0 / 2 * 2e-3, 1e-9);
}

// [INFER-18] Four micro-batches under way: each has a quarter of the sequences, and a step of all
// is a pass of one.
TEST(StepTimes, OfAPipelineAreOfItsFullestMicroBatch) {
  StepTimes steps = even_steps();
  const double of_one = steps.of({.decoding = 8, .cached = 800});
  const double of_prompt = steps.of({.decoding = 8, .cached = 800, .prompt = 100, .pairs = 1e4});
  steps.stages = 4;
  EXPECT_NEAR(steps.of({.decoding = 32, .cached = 3200}), of_one, 1e-12);
  // Fewer sequences than stages: a pass of one of them.
  steps.stages = 16;
  EXPECT_NEAR(steps.of({.decoding = 8, .cached = 800}), 0.01 + 1e-5 + 1e-4, 1e-12);
  // A prompt in one piece is in one of them.
  steps.stages = 4;
  EXPECT_NEAR(steps.of({.decoding = 32, .cached = 3200, .prompt = 100, .pairs = 1e4, .piece = 100}),
              of_prompt, 1e-12);
}

// [INFER-18] Its token comes when a line of stages makes it, also where the last pieces fill some
// stages alone; a piece at the end that is shorter than the others hides behind them.
RC_GTEST_PROP(Pipeline, BringsTheTokenOfALongPromptWhenALineOfStagesDoes, ()) {
  StepTimes steps = even_steps();
  const Policy policy{.most_tokens = 500};
  const auto stages = *rc::gen::inRange(1, 9);
  const auto pieces = *rc::gen::inRange(1, 40);
  const auto shorter = *rc::gen::element(0, 0, 1) * *rc::gen::inRange(0, 500);
  Load load{.input = pieces * 500 - shorter, .output = *rc::gen::inRange(50, 100)};
  load.arrivals = Arrivals::clients;
  load.batch = load.count = 1;
  std::vector<double> passes;
  for (std::int64_t begin = 0; begin < load.input; begin += 500) {
    const auto from = static_cast<double>(begin);
    const auto to = static_cast<double>(std::min(load.input, begin + 500));
    passes.push_back(steps.of({.prompt = to - from, .pairs = to * to - from * from}));
  }
  const double line = testing::time_of_line(passes, stages);
  steps.stages = stages;
  const Engined engine{steps, policy, 1e9};
  const Answered by = answered(engine, load);
  const double told = by.first_token.front();
  if (shorter == 0) {
    RC_ASSERT(std::abs(told / line - 1) < 1e-9);
  } else {
    RC_ASSERT(told > 0.999 * line);
    RC_ASSERT(told < line + 0.04);  // of a pass of 20 to 35 ms
  }
  const auto closed = in_closed_form(engine, load);
  RC_ASSERT(closed.has_value());
  RC_ASSERT(std::abs(closed->first_token / line - 1) < 0.35);
}

// [INFER-18] While the last pieces of a prompt are in the stages, others decode and begin; nobody
// decodes sooner than its first token.
TEST(Pipeline, TakesInOthersWhileItEmpties) {
  StepTimes steps = even_steps();
  steps.stages = 4;
  const Policy policy{.most_tokens = 500};
  Server server(steps, policy, 1e9);
  Request first{.input = 2000, .output = 3, .left = 2000, .steps = 2};
  Request second{.input = 500, .output = 3, .left = 500, .steps = 2};
  server.take(first, 0);
  server.take(second, 0);
  server.step();
  const double taken = server.now();  // four pieces have entered, the second's not
  const auto next = server.step();
  EXPECT_TRUE(next.empty());
  EXPECT_EQ(server.sequences(), 2U);
  std::vector<Request> all;
  while (server.busy()) {
    for (const Request& each : server.step()) all.push_back(each);
  }
  ASSERT_EQ(all.size(), 2U);
  for (const Request& each : all) {
    EXPECT_GT(each.first, taken);
    EXPECT_GE(each.end - each.first, 2 * 0.01);
  }
}

// [INFER-19] One client alone: prefill, the way of its cache, and steps of decoding.
TEST(RequestsApart, OfOneClientTakePrefillTheWayAndDecoding) {
  const StepTimes steps = even_steps();
  const Policy policy;
  const Load load{.input = 1000, .output = 101, .arrivals = Arrivals::clients, .batch = 1};
  const Apart apart{{steps, policy, 1e6}, {steps, policy, 1e6}, 2, 3, 1e-5, 1e-3, 1};
  const Answered by = answered(apart, load);
  EXPECT_EQ(by.latency.size(), 10U);
  EXPECT_NEAR(mean_over(by.first_token), 0.01 + 1000e-5 + 1e-3 + 1e-3 + 1000e-5, 1e-9);
  EXPECT_NEAR(mean_over(by.each_token), 0.01 + 1e-5 + 1e-6 * (1000 + 49.5), 1e-9);
}

// [INFER-19] More clients than either can: what is slowest says how many are answered.
TEST(RequestsApart, AreAnsweredAsFastAsTheSlowestPart) {
  const StepTimes steps = even_steps();
  Policy policy;
  policy.most_tokens = 1000;  // a prompt a pass
  Load load{.input = 1000, .output = 11, .arrivals = Arrivals::clients, .batch = 200};
  const auto rate_of = [&](std::int64_t prefill, std::int64_t decode, double move) {
    const Apart apart{{steps, policy, 1e6}, {steps, policy, 1e5}, prefill, decode, move, 0, 1};
    const Answered by = answered(apart, load);
    return static_cast<double>(by.latency.size()) / by.elapsed.value();
  };
  const double prompt = 0.01 + 1000e-5 + 1e-3;  // seconds of a prefill pass
  EXPECT_NEAR(rate_of(2, 100, 0) * prompt / 2, 1, 0.03);
  EXPECT_NEAR(rate_of(4, 100, 1e-4) * 1000 * 1e-4 / 4, 1, 0.03);
  // One copy of decode with room for 98 sequences of 1,010 tokens, ten steps each.
  const double step = 0.01 + 98e-5 + 98 * 1e-6 * 1005;
  EXPECT_NEAR(rate_of(100, 1, 0) / (98 / (10 * step)), 1, 0.06);
}

}  // namespace
}  // namespace headway
