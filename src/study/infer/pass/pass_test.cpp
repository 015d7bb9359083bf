// One pass of a serving, and the quick form of steps that are made of passes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "study/infer/items.hpp"
#include "study/infer/serving_for_test.hpp"
#include "study/infer/steps.hpp"

namespace headway {
namespace {

using testing::constants_of;
using testing::serving_of;

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

}  // namespace
}  // namespace headway
