#include "study/infer/engines.hpp"

#include <gtest/gtest.h>

#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

// Its host is that of later releases, its steps those of earlier ones.
TEST(Engines, OfReleasesThatNobodyMeasuredHaveTheHostOfAnother) {
  const auto named = [](const char* name) { return testing::engine_named(name); };
  EXPECT_EQ(named("vllm-0.6").step, named("vllm").step);
  EXPECT_EQ(named("vllm-0.6").layer, named("vllm").layer);
  EXPECT_EQ(named("vllm-0.6").untuned.at("blackwell").blocks,
            named("vllm").untuned.at("blackwell").blocks);
  EXPECT_TRUE(named("vllm-0.6").policy.prompts_first);
  EXPECT_FALSE(named("vllm").policy.prompts_first);
}

}  // namespace
}  // namespace headway
