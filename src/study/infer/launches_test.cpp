// Kernels that an engine launches in a pass that no graph replays [INFER-8].
#include <gtest/gtest.h>

#include <cmath>

#include "study/infer/serving_for_test.hpp"
#include "study/infer/steps.hpp"

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

PassWork decoding(std::int64_t sequences) {
  return {.sequences = sequences, .tokens = 1, .cached = 192};
}

// [INFER-41] Llama 3 8B in SGLang without graphs, one sequence: 8.23 ms by one kernel of attention,
// 9.28 by another (sgl-project/sglang#1401). GPT-2 on H200, 12 layers: 4.88 ms by SGLang, 4.81 by
// vLLM (deepspeedai/DeepSpeed#8352).
TEST(Launches, WithoutGraphsTakeWhatWasPublished) {
  const struct {
    const char *engine, *model, *cluster;
    double milliseconds, within;
  } rows[] = {{"sglang", "llama-3-8b", "dgx-h100", 8.76, 0.1},
              {"sglang", "gpt2", "dgx-h200", 4.88, 0.25},
              {"vllm", "gpt2", "dgx-h200", 4.81, 0.25}};
  for (const auto& row : rows) {
    Serving serving = testing::serving_of(row.model, row.cluster, 1);
    serving.engine = testing::engine_named(row.engine);
    serving.eager = true;
    const auto constants = serving_constants(serving.cluster);
    const double taken = time_of(serving, *constants, decoding(1)).total().value() * 1e3;
    EXPECT_NEAR(taken / row.milliseconds, 1, row.within) << row.engine << " " << row.model;
  }
}

// Never sooner than by graphs, as soon where kernels take longer than their launches, and as near
// in the quick form as by graphs.
TEST(Launches, WithoutGraphsShowWhereKernelsAreShort) {
  for (const char* model : {"llama-3-8b", "qwen3-30b-a3b"}) {
    Serving graphs = testing::serving_of(model, "dgx-h100", 1), eager = graphs;
    eager.eager = true;
    const auto constants = serving_constants(graphs.cluster);
    const StepTimes quick = step_times(graphs, *constants, 1000, 200);
    const StepTimes quick_eager = step_times(eager, *constants, 1000, 200);
    for (const std::int64_t sequences : {1, 32, 256, 2000}) {
      PassWork work = decoding(sequences);
      work.cached = 1100;
      const double taken = time_of(eager, *constants, work).total().value();
      const double replayed = time_of(graphs, *constants, work).total().value();
      EXPECT_GE(taken, replayed);
      const auto decoded = static_cast<double>(sequences);
      const StepLoad step{.decoding = decoded, .cached = decoded * 1100};
      EXPECT_NEAR(quick_eager.of(step) / taken, 1, 0.01 + std::abs(quick.of(step) / replayed - 1));
    }
    const PassWork many{.sequences = 2000, .tokens = 1, .cached = 1100};
    EXPECT_EQ(time_of(eager, *constants, many).total(), time_of(graphs, *constants, many).total());
  }
}

TEST(Launches, WithoutGraphsAreRefusedOfEnginesThatReplayNone) {
  Serving serving = testing::serving_of("llama-3-8b", "dgx-a100-80gb", 1);
  serving.engine = testing::engine_named("deepspeed-mii");
  serving.eager = true;
  const Problems problems = check(serving);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems.front().fields.front().name, "eager");
}

}  // namespace
}  // namespace headway
