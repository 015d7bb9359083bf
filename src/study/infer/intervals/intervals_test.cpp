// [INFER-11] [INFER-29] In what four of five measured ones lie.
#include "study/infer/intervals/intervals.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "base/document/document.hpp"
#include "study/infer/engines.hpp"
#include "study/infer/load/line_of_stages_for_test.hpp"
#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

TEST(ServingIntervals, AreOfTheFirstClassThatHolds) {
  const auto document = parse_toml(
      "date = \"2026-11-26\"\nengines = [\"vllm\"]\naccelerators = [\"h100-sxm\"]\nclasses = [\n"
      "{ quantity = \"ttft_s\", load = \"clients\", engine = \"known\", low = 0.5, high = 2, rows "
      "= "
      "30, sources = 2 },\n"
      "{ quantity = \"ttft_s\", low = 0.4, high = 3, rows = 60, sources = 3 },\n"
      "{ low = 0.1, high = 9, rows = 99, sources = 4 },\n]\n",
      "intervals.toml");
  ASSERT_TRUE(document);
  const auto read = serving_intervals_from(*document);
  ASSERT_TRUE(read);
  const auto high = [&](const char* engine, Arrivals arrivals, const char* quantity) {
    Serving serving = testing::serving_of("llama-3-8b", "dgx-h100");
    serving.engine.name = engine;
    Load load;
    load.arrivals = arrivals;
    return read->of(interval_class(*read, serving, load, false, quantity))->high;
  };
  EXPECT_EQ(high("vllm", Arrivals::clients, "ttft_s"), 2);
  EXPECT_EQ(high("other", Arrivals::clients, "ttft_s"), 3);
  EXPECT_EQ(high("vllm", Arrivals::together, "ttft_s"), 3);
  EXPECT_EQ(high("vllm", Arrivals::clients, "throughput_output_tok_s"), 9);
}

// [INFER-11] Nobody measured a serving on Trainium; what is not known of it comes on top.
TEST(ServingIntervals, OfAnAcceleratorWithoutRowsAreWider) {
  const auto& known = serving_intervals();
  ASSERT_TRUE(known);
  const auto width = [&](const char* cluster, Arrivals arrivals, bool full, const char* quantity) {
    const Serving serving = testing::serving_of("llama-3-8b", cluster);
    Load load;
    load.arrivals = arrivals;
    const IntervalFactors half =
        known->of(interval_class(*known, serving, load, full, quantity))->at(0.5);
    return half.high / half.low;
  };
  const struct {
    Arrivals arrivals;
    bool full;
    const char* quantity;
  } asked[] = {{Arrivals::together, false, "latency_s"},
               {Arrivals::together, false, "throughput"},
               {Arrivals::clients, false, "ttft_s"},
               {Arrivals::clients, false, "tpot_s"},
               {Arrivals::clients, true, "throughput"}};
  for (const auto& [arrivals, full, quantity] : asked) {
    EXPECT_GT(width("trn2", arrivals, full, quantity), width("dgx-h100", arrivals, full, quantity))
        << quantity;
  }
}

// [INFER-11] Errors of two causes: with 30 % alone and 40 % of all that is waiting, 50 %; of half
// of it, what squares say.
TEST(ServingIntervals, GrowWithTheShareThatIsWaitingAsVariancesAdd) {
  const IntervalFactors factors{std::exp(-0.3), std::exp(0.3), std::exp(-0.4), std::exp(0.4)};
  EXPECT_NEAR(std::log(factors.at(0).high), 0.3, 1e-12);
  EXPECT_NEAR(std::log(factors.at(1).high), 0.5, 1e-12);
  EXPECT_NEAR(std::log(factors.at(1).low), -0.5, 1e-12);
  EXPECT_NEAR(std::log(factors.at(0.5).high), std::sqrt(0.09 + 0.04), 1e-12);
}

// [INFER-11] Of a client's first token what neither its own prompt, four pieces in two stages, nor
// the way in and out explains.
TEST(ServingIntervals, KnowHowMuchOfAFirstTokenIsWaiting) {
  Serving serving = testing::serving_of("llama-3-70b", "dgx-h100", 4);
  serving.pp = 2;
  serving.engine.policy.most_tokens = 2000;
  serving.engine.request = Seconds(0.05);
  const ServingConstants constants = *serving_constants(serving.cluster);
  const Load load{.input = 8000, .output = 10, .arrivals = Arrivals::clients};
  std::vector<double> passes;
  for (std::int64_t at = 0; at < load.input; at += 2000) {
    const PassTime pass = time_of(serving, constants, {.tokens = 2000, .cached = at});
    passes.push_back(pass.total().value());
  }
  const Seconds own(testing::time_of_line(passes, 2) + 0.05);
  EXPECT_NEAR(waiting_share(4 * own, serving, constants, load), 0.75, 0.01);
  EXPECT_EQ(waiting_share(0.9 * own, serving, constants, load), 0);
  EXPECT_EQ(waiting_share(own, serving, constants, {.input = 8000, .output = 10}), 0);
}

// Those of the program hold each prediction, and every quantity has one.
TEST(ServingIntervals, OfTheProgramHoldWhatIsPredicted) {
  const auto& intervals = serving_intervals();
  ASSERT_TRUE(intervals);
  for (const auto& entry : intervals->entries) {
    EXPECT_LE(entry.factors.low, 1);
    EXPECT_GE(entry.factors.high, 1);
    EXPECT_GE(entry.rows, 20U);
  }
  EXPECT_TRUE(intervals->of({"anything", "at all", "unknown", "unknown"}));
}

// [INFER-29] 70.6 G weights of 2 bytes less the embedding over eight memories of 3.35 TB/s: no
// interval promises a token sooner, nor more tokens than its sequences get so.
RC_GTEST_PROP(ServingIntervals, HoldThePredictionAndPassNoPeak, ()) {
  Serving serving = testing::serving_of("llama-3-70b", "dgx-h100", 8);
  serving.engine = (*engines())[*rc::gen::inRange<std::size_t>(0, engines()->size())];
  const ServingConstants constants = *serving_constants(serving.cluster);
  Load load{.input = *rc::gen::inRange(1, 4000), .output = *rc::gen::inRange(2, 400)};
  load.arrivals = *rc::gen::arbitrary<bool>() ? Arrivals::clients : Arrivals::together;
  load.batch = *rc::gen::inRange(1, 64);
  const Served by = served(serving, constants, load);
  RC_PRE(by.fits);
  const ServedIntervals intervals = intervals_of(serving, constants, load, by);
  const auto holds = [](const std::optional<ServedRange>& range, double value) {
    return range && range->low <= value && value <= range->high;
  };
  RC_ASSERT(holds(intervals.first_token, by.first_token.value()));
  RC_ASSERT(holds(intervals.each_token, by.each_token.value()));
  RC_ASSERT(holds(intervals.latency, by.latency.value()));
  RC_ASSERT(holds(intervals.output, by.output_per_second));
  const double least = (70.55e9 - 1.06e9) * 2 / 8 / 3.35e12;
  RC_ASSERT(intervals.each_token->low >= 0.99 * least);
  RC_ASSERT(intervals.output->high <= 1.01 * static_cast<double>(load.batch) / least);
  const double prompt = 2 * 69e9 * static_cast<double>(load.input) / 8 / 989e12;
  RC_ASSERT(intervals.first_token->low >= 0.99 * prompt);
}

// 500 tokens under load: the answer's bounds are no wider than its first token's and the others'
// together. What comes by itself is what is made: of clients alone output has an interval.
TEST(ServingIntervals, OfAnAnswerLieWithinThoseOfItsParts) {
  Serving serving = testing::serving_of("llama-3-70b", "dgx-h100", 8, "fp8");
  const ServingConstants constants = testing::constants_of(serving);
  Load load{.input = 1000, .output = 500, .arrivals = Arrivals::random, .rate = 8};
  for (const Arrivals arrivals : {Arrivals::random, Arrivals::clients}) {
    load.arrivals = arrivals;
    load.batch = 32;
    const Served by = served(serving, constants, load);
    const ServedIntervals of = intervals_of(serving, constants, load, by);
    ASSERT_TRUE(of.first_token && of.each_token && of.latency);
    EXPECT_LE(of.latency->high, of.first_token->high + 499.001 * of.each_token->high);
    EXPECT_GE(of.latency->low, of.first_token->low + 498.999 * of.each_token->low);
    EXPECT_LE(of.latency->low, by.latency.value());
    EXPECT_GE(of.latency->high, by.latency.value());
    EXPECT_EQ(of.output.has_value(), arrivals == Arrivals::clients);
  }
}

}  // namespace
}  // namespace headway
