// Kernels that an engine launches in a pass that no graph replays [INFER-8].
#include <gtest/gtest.h>

#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

double launches_of_layer(const char* model) {
  const Serving serving = testing::serving_of(model, "dgx-h100", 8);
  const PassWork prompt{.sequences = 1, .tokens = 1024, .replayed = false};
  const auto constants = serving_constants(serving.cluster);
  return time_of(serving, *constants, prompt).kernels / static_cast<double>(serving.model.layers());
}

// Experts add their choice, order, activation and sum, some ten kernels, however many there are:
// 128 of Qwen3-235B or 256 of MiniMax M2.5 are launched as eight of Mixtral.
TEST(Launches, OfExpertsAreAsManyHoweverManyExperts) {
  const double dense = launches_of_layer("llama-3-70b"), few = launches_of_layer("mixtral-8x7b");
  EXPECT_GT(few, dense);
  EXPECT_LT(few, dense + 12);
  EXPECT_NEAR(launches_of_layer("qwen3-235b-a22b"), few, 4);
  EXPECT_NEAR(launches_of_layer("minimax-m2.5"), few, 4);
}

// Beyond their kernels experts are set up anew in each layer that has any: 58 of DeepSeek-V3's 61,
// none of Llama's.
TEST(Launches, OfLayersWithExpertsTakeTheirSettingUp) {
  for (const auto& [model, layers] : {std::pair("deepseek-v3", 58), {"llama-3-70b", 0}}) {
    Serving serving = testing::serving_of(model, "dgx-h100", 8);
    serving.engine.launch = Seconds(10e-6);
    serving.engine.experts = Seconds(1e-3);
    EXPECT_NEAR(launch_time(serving, 1000).value(), 10e-3 + layers * 1e-3, 1e-12) << model;
  }
}

// [INFER-8] Of an architecture that no row of the engine is of kernels follow on each other as
// those of its usual one, and eight of a layer as much later as a kernel starts later than the 1.5
// us of NVIDIA's; where rows are, as they tell.
TEST(Launches, OfAGraphFollowLaterWhereAKernelStartsLater) {
  Engine engine;
  engine.layer = {{"hopper", Seconds(6e-6)}, {"default", Seconds(2e-6)}};
  const auto gap = [&](const char* accelerator) {
    return gap_of_layer(engine, *load_accelerator(accelerator)).value() * 1e6;
  };
  const double late = load_accelerator("mi300x")->launch_overhead.value() * 1e6;
  EXPECT_DOUBLE_EQ(gap("h100-sxm"), 6);
  EXPECT_DOUBLE_EQ(gap("b200"), 2);
  EXPECT_NEAR(gap("mi300x"), 2 + 8 * (late - 1.5), 1e-9);
  EXPECT_DOUBLE_EQ(gap("gaudi-2"), 2);  // it starts sooner
}

}  // namespace
}  // namespace headway
