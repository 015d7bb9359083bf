#include "study/traffic/textbook.hpp"

#include <gtest/gtest.h>

#include "forecast/random_run_for_test.hpp"

namespace headway::testing {
namespace {

std::vector<TextbookVolume> volumes(const Case& c) {
  EXPECT_TRUE(c.legal());
  const Traffic traffic = traffic_of(c, c.calibration);
  return textbook_volumes(c, traffic);
}

// GPT-NeoX 1.3B: 24 layers, h = 2,048, one micro-batch of 4 sequences of 2,048 tokens on each rank.
Case neox(Framework framework, std::int64_t ranks_of_data) {
  Case c = case_of("gpt-neox-1.3b", "frontier");
  c.job.framework = framework;
  c.job.sequence = 2048;
  c.layout.dp = ranks_of_data;
  c.layout.micro_batch = 4;
  c.job.global_batch = 4 * ranks_of_data;
  return c;
}

constexpr double kWeights = 1414.7e6 * 2;  // published total of the 1.3B configuration, in bf16

double ratio(const TextbookVolume& volume) {
  return volume.framework / volume.textbook;
}

// [COMM-5] DeepSpeed 0.14-0.19 reduces by all-reduce and then gathers the weights: 3 m at ZeRO-1
// and 2, where the textbook says 2 m; at ZeRO-3 at most the textbook's 3 m.
TEST(Textbook, DeepSpeedSendsThreeTimesTheWeightsAtZeroOneAndTwo) {
  for (const int zero : {0, 1, 2, 3}) {
    Case c = neox(framework_from("deepspeed").value(), 8);
    c.layout.zero = zero;
    const std::vector<TextbookVolume> found = volumes(c);
    ASSERT_EQ(found.size(), 1u);
    const double unit = kWeights * 7 / 8;
    EXPECT_NEAR(found[0].textbook.value(), (zero == 3 ? 3 : 2) * unit, 1e-4 * kWeights);
    if (zero < 3) {
      EXPECT_NEAR(found[0].framework.value(), (zero == 0 ? 2 : 3) * unit, 1e-3 * kWeights);
      EXPECT_EQ(found[0].reasons.empty(), zero == 0);
    } else {
      EXPECT_LT(found[0].framework.value(), 3.001 * unit);
      EXPECT_GT(found[0].framework.value(), 1.999 * unit);
      EXPECT_EQ(found[0].reasons.empty(), ratio(found[0]) > 0.99);
    }
  }
}

// FSDP at stage 2 keeps all weights gathered between the passes.
TEST(Textbook, WeightsThatStayGatheredAreNamedAsTheReason) {
  Case c = neox(framework_from("fsdp").value(), 8);
  c.layout.zero = 3;
  c.layout.reshard_after_forward = false;
  const TextbookVolume found = volumes(c).front();
  EXPECT_NEAR(ratio(found), 1, 1e-2);  // m and, in fp32, 2 m
  c.layout.zero = 2;
  const TextbookVolume kept = volumes(c).front();
  EXPECT_NEAR(ratio(kept), 1.5, 1e-2);
  ASSERT_EQ(kept.reasons.size(), 3u);
  EXPECT_NE(kept.reasons[2].find("gathered weights are kept"), std::string::npos);
}

// Megatron-LM sends gradients in fp32: 2 m + m of weights at ZeRO-1.
TEST(Textbook, GradientsInFp32AreNamedAsTheReason) {
  Case c = neox(framework_from("megatron").value(), 8);
  c.layout.zero = 1;
  const TextbookVolume found = volumes(c).front();
  EXPECT_NEAR(ratio(found), 1.5, 1e-3);
  ASSERT_EQ(found.reasons.size(), 1u);
  EXPECT_NE(found.reasons[0].find("fp32"), std::string::npos);
}

// FSDP gathers and reduces for every micro-batch: (2 m of weights + 2 m of fp32 gradients) x 4; its
// outermost unit, embedding and head (15 % of the weights), may stay gathered between the passes.
TEST(Textbook, ShardedWeightsMoveForEveryMicroBatch) {
  Case c = neox(framework_from("fsdp").value(), 8);
  c.layout.zero = 3;
  c.job.global_batch = 4 * 8 * 4;
  const TextbookVolume found = volumes(c).front();
  EXPECT_LT(ratio(found), 4 * 4.0 / 3 + 0.01);
  EXPECT_GT(ratio(found), 4 * 3.85 / 3 - 0.01);
  ASSERT_GE(found.reasons.size(), 2u);
  EXPECT_NE(found.reasons[1].find("each of 4 micro-batches"), std::string::npos);
}

// [COMM-6] Without sequence parallelism a layer's calls are the textbook's; 24 layers, 2 with the
// embedding's exit and the head's entry, each half a layer's pair: 24 x 4 + 2. With it 5 pairs of a
// gather and a reduction instead of 4, and the head's and the embedding's.
TEST(Textbook, TensorParallelCallsOfALayerAreTheTextbooksUnlessInputsAreGatheredAgain) {
  Case c = neox(framework_from("deepspeed").value(), 1);
  c.layout.tp = 8;
  c.layout.sequence_parallel = false;
  TextbookVolume found = volumes(c).front();
  const double layer = 4.0 * 4 * 2048 * 2048 * 2 * 2 * 7 / 8;  // four all-reduces of b s h, bf16
  EXPECT_NEAR(found.textbook.value(), 24 * layer, 1);
  EXPECT_NEAR(ratio(found), (24 * 4 + 2) / (24 * 4.0), 1e-3);
  c.layout.sequence_parallel = true;
  found = volumes(c).front();
  EXPECT_NEAR(found.textbook.value(), 24 * layer, 1);
  EXPECT_NEAR(ratio(found), (24 * 10 + 3 + 1) / (24 * 8.0), 1e-2);
  EXPECT_FALSE(found.reasons.empty());
}

// [COMM-7] 4 stages: 3 boundaries, crossed by each micro-batch both ways.
TEST(Textbook, StagesSendOneActivationEachWayOverEachBoundary) {
  Case c = neox(framework_from("deepspeed").value(), 2);
  c.layout.pp = 4;
  c.job.global_batch = 4 * 2 * 8;
  std::vector<TextbookVolume> found = volumes(c);
  ASSERT_EQ(found.size(), 2u);
  const double activation = 4.0 * 2048 * 2048 * 2;
  EXPECT_NEAR(found[1].textbook.value(), 2 * 8 * 3 * activation / 4, 1);
  EXPECT_NEAR(ratio(found[1]), 1, 1e-3);  // besides, a kilobyte that announces shapes
  EXPECT_TRUE(found[1].reasons.empty());
  // Two chunks a rank: 7 boundaries.
  c.layout.vpp = 2;
  found = volumes(c);
  EXPECT_NEAR(ratio(found[1]), 7.0 / 3, 1e-3);
}

// [COMM-8] Mixtral: 32 layers, 2 of 8 experts a token, h = 4,096.
TEST(Textbook, TokensGoToTheirExpertsAndBackForwardAndBackward) {
  Case c = case_of("mixtral-8x7b", "dgx-h100");
  c.job.sequence = 4096;
  c.job.global_batch = 16;
  c.layout.dp = 8;
  c.layout.ep = 8;
  const std::vector<TextbookVolume> found = volumes(c);
  ASSERT_EQ(found.back().of, "expert");
  EXPECT_NEAR(found.back().textbook.value(), 32.0 * 2 * 4 * 2 * 4096 * 4096 * 2 * 7 / 8, 1);
  EXPECT_NEAR(ratio(found.back()), 1, 1e-9);
}

// [COMM-9] Llama-3-70B: 80 layers, 8 key-value heads of 128, 64 query heads.
TEST(Textbook, ContextParallelRanksPassKeysAndValuesOnOrTradeTokensForHeads) {
  Case c = case_of("llama-3-70b", "dgx-h100");
  c.job.sequence = 8192;
  c.job.global_batch = 4;
  c.layout.tp = 4;
  c.layout.cp = 2;
  std::vector<TextbookVolume> found = volumes(c);
  ASSERT_EQ(found.back().of, "context, ring");
  const double tokens = 4.0 * 8192 / 2;  // 4 micro-batches
  EXPECT_NEAR(found.back().textbook.value(), 80 * 3 * 1 * tokens * 2 * 8 * 128 / 4 * 2, 1);
  EXPECT_NEAR(ratio(found.back()), 1, 1e-9);
  c.layout.context_exchange = ContextExchange::all_to_all;
  found = volumes(c);
  const double widths = (2 * 64 + 2 * 8) * 128 / 4.0;
  EXPECT_NEAR(found.back().textbook.value(), 80 * 2 * tokens * widths * 2 / 2, 1);
  EXPECT_NEAR(ratio(found.back()), 1, 1e-9);
}

}  // namespace
}  // namespace headway::testing
