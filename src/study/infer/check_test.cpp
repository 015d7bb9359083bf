// What cannot be served so.
#include <gtest/gtest.h>

#include <algorithm>

#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

using testing::serving_of;

TEST(ServingCheck, NamesEverythingThatIsWrong) {
  Serving serving = serving_of("mixtral-8x7b", "dgx-h100", 3);
  serving.ep = 5;
  serving.pp = 100;
  // 3 beside 32 heads and 8 key-value heads, 5 beside 8 experts and 3 ranks, 100 beside 32 layers.
  EXPECT_EQ(check(serving).size(), 5U);
}

// As in training: no rank has a part of a column.
TEST(ServingCheck, RefusesWidthsThatDoNotSplit) {
  Serving serving = serving_of("gpt-oss-20b", "dgx-h100", 32);  // 2,880 wide experts, 64 heads
  serving.cluster.accelerators = 64;
  EXPECT_TRUE(check(serving).empty());
  serving.tp = 64;
  EXPECT_TRUE(check(serving).empty());
  Serving dense = serving_of("llama-2-7b", "dgx-h100", 32);  // 11,008 = 32 x 344
  EXPECT_TRUE(check(dense).empty());
  dense.model.kinds[0].feed_forward->width = 11'000;
  EXPECT_EQ(check(dense).size(), 1U);
}

TEST(ServingCheck, RefusesFormatsThatTheAcceleratorLacks) {
  Serving serving = serving_of("llama-2-7b", "dgx-a100-80gb");
  serving.weights = recipe_from("fp8");
  ASSERT_EQ(check(serving).size(), 1U);
}

// Guesses are of the model's own vocabulary, but for what it is padded by.
TEST(Speculation, IsByAModelOfTheSameTokens) {
  Serving serving = serving_of("llama-3-70b", "dgx-h100", 8);
  const auto taken = [&](const char* draft) {
    serving.speculation = Speculation{{.chance = 0.7, .length = 3}, *load_model(draft)};
    return check(serving).empty();
  };
  EXPECT_TRUE(taken("llama-3-8b"));
  EXPECT_FALSE(taken("llama-2-7b"));
}

}  // namespace
}  // namespace headway
