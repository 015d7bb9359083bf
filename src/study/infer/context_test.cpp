// Prompts that ranks share [INFER-25].
#include <gtest/gtest.h>

#include "model/reading/load.hpp"
#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

struct PromptCase {
  Serving serving;
  ServingConstants constants;
  PassTime prompt(std::int64_t cp, std::int64_t tokens) {
    serving.cp = cp;
    return time_of(serving, constants, {.tokens = tokens, .replayed = false});
  }
};
PromptCase split_prompts() {
  const Serving out = testing::serving_of("llama-3.1-8b", "dgx-h100");
  return {out, *serving_constants(out.cluster)};
}

// Of a long prompt each of four ranks has a quarter of the products' rows, and a quarter of the
// scores; keys and values go round under them: 32 layers, each 3 x 25,600 x 2 x 1,024 x 2 B.
TEST(SplitPrompts, TakeAPartOfTheTimeWhereTheyAreLong) {
  PromptCase c = split_prompts();
  PassTime one = c.prompt(1, 102'400), four = c.prompt(4, 102'400);
  EXPECT_NEAR(four[ServingPart::products] / one[ServingPart::products], 0.25, 0.02);
  EXPECT_NEAR(four[ServingPart::attention] / one[ServingPart::attention], 0.25, 0.03);
  EXPECT_EQ(one[ServingPart::cp].value(), 0);
  EXPECT_LT(four[ServingPart::cp], 0.05 * four.total());
  // The host handles a prompt once, however it is split.
  const auto shared = [](PassTime pass) { return pass.total() - pass[ServingPart::host]; };
  EXPECT_NEAR(shared(four) / shared(one), 0.25, 0.04);
}

// What the attention of short pieces does not hide is told.
TEST(SplitPrompts, PayForTheExchangeWhereTheyAreShort) {
  PromptCase c = split_prompts();
  PassTime eight = c.prompt(8, 1024);
  EXPECT_GT(eight[ServingPart::cp].value(), 0);
  EXPECT_GT(eight.total(), 0.125 * c.prompt(1, 1024).total());
}

// Four ranks keep a quarter of each sequence, all the weights, and read a quarter to decode.
TEST(SplitPrompts, KeepAPartOfTheirCacheOnEachRank) {
  PromptCase c = split_prompts();
  const ServingMemory one = memory_of(c.serving, 1000);
  const auto decode = [&] {
    return time_of(c.serving, c.constants, {.sequences = 64, .tokens = 1, .cached = 64'000});
  };
  PassTime alone = decode();
  c.serving.cp = 4;
  const ServingMemory four = memory_of(c.serving, 1000);
  EXPECT_EQ(four.weights.value(), one.weights.value());
  EXPECT_NEAR(four.cache_of_token / one.cache_of_token, 0.25, 1e-12);
  PassTime shared = decode();
  EXPECT_NEAR(shared[ServingPart::attention] / alone[ServingPart::attention], 0.25, 0.03);
  EXPECT_EQ(shared[ServingPart::products].value(), alone[ServingPart::products].value());
  EXPECT_GT(shared[ServingPart::cp].value(), 0);
}

TEST(SplitPrompts, AreCheckedAsInTraining) {
  PromptCase c = split_prompts();
  c.serving.cp = 4;
  EXPECT_TRUE(check(c.serving).empty());
  EXPECT_EQ(c.serving.ranks(), 4);
  c.serving.cluster.accelerators = 3;
  EXPECT_FALSE(check(c.serving).empty());
  c.serving.cluster.accelerators = 64;
  c.serving.cp = 2;
  c.serving.model = *load_model("qwen3.5-397b-a17b");
  c.serving.tp = 8;
  EXPECT_FALSE(check(c.serving).empty());  // a state does not split by tokens
}

}  // namespace
}  // namespace headway
