// Weights in formats of serving's own.
#include <gtest/gtest.h>

#include "study/infer/engines.hpp"
#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

Serving served_in(const std::string& model, const std::string& cluster, const char* weights) {
  Serving out = testing::serving_of(model, cluster);
  EXPECT_TRUE(set_weights(out, weights)) << weights;
  return out;
}

double weights_of(const std::string& model, const char* weights) {
  return memory_of(served_in(model, "dgx-h100", weights), 1000).weights.value();
}

// Sizes of published checkpoints: gpt-oss 120b 60.8 GiB and 20b 12.8 GiB (arXiv 2508.10925, table
// 1), experts alone in MXFP4; TheBloke's Llama 2 70B in AWQ, groups of 128: 36.6 GB.
TEST(StoredWeights, TakeTheRoomOfPublishedCheckpoints) {
  const double gib = 1024.0 * 1024 * 1024;
  EXPECT_NEAR(weights_of("gpt-oss-120b", "mxfp4") / gib / 60.8, 1, 0.02);
  EXPECT_NEAR(weights_of("gpt-oss-20b", "mxfp4") / gib / 12.8, 1, 0.02);
  EXPECT_NEAR(weights_of("llama-2-70b", "int4") / 36.6e9, 1, 0.02);
}

// [INFER-20] Where weights are read, a token takes less in fewer bits, and prompts do not.
TEST(StoredWeights, MakeDecodingFasterAndNotPrefill) {
  const auto times = [](const char* weights) {
    const Serving serving = served_in("llama-2-70b", "dgx-a100-80gb", weights);
    const ServingConstants constants = *serving_constants(serving.cluster);
    return std::pair(time_of(serving, constants, {.tokens = 1, .cached = 500}).total(),
                     time_of(serving, constants, {.tokens = 4096, .replayed = false}).total());
  };
  const auto wide = times("bf16"), eight = times("int8"), four = times("int4");
  EXPECT_LT(eight.first, wide.first);
  EXPECT_LT(four.first, eight.first);
  EXPECT_GT(four.second, 0.85 * wide.second);
  // Both halves in 8 bits: prompts gain, too.
  EXPECT_LT(times("int8-full").second, 0.7 * wide.second);
}

// Of MI300X products were measured and no kernel of serving, of Gaudi neither; of weight-only
// formats dense products on A100 and experts on Hopper were. No row of vLLM of 2025 is of A100,
// MI300X or Gaudi.
TEST(Unmeasured, IsWhatStandsOnOtherArchitectures) {
  const auto notes = [](const char* model, const char* cluster, const char* weights) {
    const Serving serving = served_in(model, cluster, weights);
    return unmeasured(serving, *serving_constants(serving.cluster)).size();
  };
  EXPECT_EQ(notes("llama-2-7b", "dgx-h100", "bf16"), 0U);
  EXPECT_EQ(notes("llama-2-7b", "dgx-a100-80gb", "int4"), 1U);
  EXPECT_EQ(notes("llama-2-7b", "dgx-h100", "int4"), 1U);
  EXPECT_EQ(notes("gpt-oss-120b", "dgx-h100", "mxfp4"), 0U);
  EXPECT_EQ(notes("llama-2-7b", "mi300x-8", "bf16"), 2U);
  EXPECT_EQ(notes("llama-2-7b", "mi300x-8", "int4"), 3U);
  EXPECT_EQ(notes("llama-2-7b", "gaudi-3-8", "bf16"), 3U);
}

TEST(StoredWeights, AreServedWhereProductsInTheirFormatAreNot) {
  for (const char* weights : {"int8", "int4", "mxfp4", "nvfp4", "int4-experts"}) {
    EXPECT_TRUE(check(served_in("llama-2-7b", "dgx-a100-80gb", weights)).empty()) << weights;
    EXPECT_TRUE(check(served_in("llama-2-7b", "dgx-v100", weights)).empty()) << weights;
  }
  EXPECT_TRUE(check(served_in("llama-2-7b", "dgx-a100-80gb", "int8-full")).empty());
  EXPECT_EQ(check(served_in("llama-2-7b", "dgx-v100", "int8-full")).size(), 1U);
  EXPECT_EQ(check(served_in("llama-2-7b", "dgx-a100-80gb", "fp4")).size(), 1U);
  Serving none;
  EXPECT_FALSE(set_weights(none, "int5"));
}

// Values of a head of 128 with a scale and a zero of 16 bits; NVFP4 as weights are.
TEST(Caches, TakeTheirScalesAlongAndAreThoseOfTheEngine) {
  EXPECT_NEAR(cache_format("int8")->bytes, 1.03125, 1e-12);
  EXPECT_NEAR(cache_format("nvfp4")->bytes, 0.5625, 1e-12);
  Serving serving = served_in("llama-3-8b", "dgx-h100", "bf16");
  const double wide = memory_of(serving, 1000).cache_of_token.value();
  serving.cache = cache_format("int4");
  EXPECT_NEAR(memory_of(serving, 1000).cache_of_token.value() / wide, 0.53125 / 2, 1e-12);
  EXPECT_EQ(check(serving).size(), 1U);  // vLLM has none
  for (const Engine& engine : *engines()) {
    serving.engine = engine;
    EXPECT_EQ(check(serving).empty(), engine.name == "lmdeploy") << engine.name;
    ASSERT_FALSE(engine.caches.empty()) << engine.name;
  }
}

}  // namespace
}  // namespace headway
