// [STEP-28] Recomputation of every second product, against products and bytes counted by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "step/case_for_test.hpp"

namespace headway::testing {
namespace {

Case recomputing(const std::string& model, Choice early = Choice::off) {
  Case c = case_of(model, "dgx-h100");
  c.job.framework = framework_from("fsdp").value();
  c.job.global_batch = 8;
  c.layout.recompute = Recompute::every_second;
  c.layout.recompute_early_stop = early;
  return c;
}

double again(const Case& c) {
  expect_legal(c);
  return c.lowered().recomputed_flops_full.value();
}

// Llama-3-8B: 32 layers of width 4,096, 32 heads and 8 key-value heads of 128, 14,336 wide. Of wq,
// wk, wv, wo, w1, w3, w2 the second, fourth and sixth run again, attention does not.
constexpr double kSecondTokens = 8 * 2048;
constexpr double kSecondLlama =
    32 * kSecondTokens * 2 * (4096.0 * 1024 + 4096.0 * 4096 + 4096.0 * 14336);

TEST(EverySecondProduct, OfALlamaLayerKeysOutputAndGateRunAgain) {  // [STEP-28]
  EXPECT_DOUBLE_EQ(again(recomputing("llama-3-8b")), kSecondLlama);
  // The last product is kept, so that stopping before it changes no product.
  EXPECT_DOUBLE_EQ(again(recomputing("llama-3-8b", Choice::on)), kSecondLlama);
  Case split = recomputing("llama-3-8b");
  split.layout.tp = 8;
  EXPECT_DOUBLE_EQ(again(split), kSecondLlama);
  split.layout.tp = 2;
  split.layout.pp = 2;
  split.layout.cp = 2;
  EXPECT_DOUBLE_EQ(again(split), kSecondLlama);
}

// The same products run forward as without recomputation; the keys' alone is a kernel more.
TEST(EverySecondProduct, LeavesTheForwardPassAsItIs) {  // [STEP-28]
  Case c = recomputing("llama-3-8b");
  const Block with = c.lowered().blocks[0];
  c.layout.recompute = Recompute::none;
  const Block without = c.lowered().blocks[0];
  double more = 0;
  for (const Op& op : only<Op>(with.items)) {
    if (op.phase != Phase::recompute) continue;
    more += 1;
    EXPECT_TRUE(op.recomputed);
    EXPECT_EQ(std::get<Matmul>(op.shape).k, 4096);
    const auto columns = std::get<Matmul>(op.shape).n;
    EXPECT_TRUE(columns == 1024 || columns == 14336) << columns;
  }
  EXPECT_EQ(more, 2);
  EXPECT_EQ(with.items.size(), without.items.size() + 2);
}

// GPT-2's code has one product each for queries, keys and values (kept) and of the feed-forward
// part: the second, the output projection, and the fourth, down, run again.
TEST(EverySecondProduct, CountsJoinedWeightsOnce) {  // [STEP-28]
  const Case c = recomputing("gpt2-xl");
  const double layers = 48 * 8 * 2048.0 * 2, h = 1600;
  EXPECT_DOUBLE_EQ(again(c), layers * (h * h + 4 * h * h));
}

// Mixtral-8x7B: two of eight experts of width 14,336 a token, products of a group, which are not
// kept; nor is the router's. Keys and output projection run again, queries and values do not.
TEST(EverySecondProduct, OfRoutedExpertsAllProductsRunAgain) {  // [STEP-28]
  const double attention = 4096.0 * 1024 + 4096.0 * 4096, router = 4096.0 * 8;
  const double up = 2 * 4096.0 * 2 * 14336, down = 2 * 4096.0 * 14336;
  const double flops = 32 * kSecondTokens * 2;
  EXPECT_NEAR(again(recomputing("mixtral-8x7b")) / (flops * (attention + router + up + down)), 1,
              1e-12);
  EXPECT_NEAR(again(recomputing("mixtral-8x7b", Choice::on)) / (flops * (attention + router + up)),
              1, 1e-12);
}

// DeepSeek-V3: products down to the queries' latent of 1,536, up to 128 heads of 192, down to the
// keys' of 576, up from 512 of it to 128 heads of 256, and the output's. Of these the second and
// fourth run again; then of the dense layers gate (sixth) and down (eighth), of the shared expert
// likewise, and all of the routed ones.
TEST(EverySecondProduct, OfLatentAttentionBothProductsOutOfLatentsRunAgain) {  // [STEP-28]
  Case c = recomputing("deepseek-v3");
  c.model.prediction_layers = 0;
  const double h = 7168, up = 1536.0 * 128 * 192 + 512.0 * 128 * 256;
  const double dense = 2 * h * 18432, shared = 2 * h * 2048;
  const double routed = h * 256 + 8 * 3 * h * 2048;
  EXPECT_NEAR(again(c) / (kSecondTokens * 2 * (61 * up + 3 * dense + 58 * (shared + routed))), 1,
              1e-12);
}

// Of 2,048 tokens in 16 bit: the layer's input, queries, values, attention's result and the
// logarithm of its sums (4 B a head), the up product's result; with eager kernels the down
// product's, too, which nothing reads.
TEST(EverySecondProduct, KeepsTheLayersInputAndWhatTheOddProductsAndAttentionMake) {  // [STEP-28]
  Case c = recomputing("llama-3-8b");
  const double kept = 2048 * (2 * (4096 + 4096 + 1024 + 4096 + 14336) + 4 * 32);
  const auto saved = [&] { return c.lowered().blocks[0].saved.value(); };
  EXPECT_DOUBLE_EQ(saved(), kept);
  c.job.fused = false;
  EXPECT_DOUBLE_EQ(saved(), kept + 2048 * 2 * 4096);
  c.job.fused = true;
  // A tensor rank has its part of all, and of the output projection the sum that was scattered.
  c.layout.tp = 8;
  EXPECT_DOUBLE_EQ(saved(), (kept + 2048 * 2 * 4096) / 8);
  // Scores that go through memory are products of a group: neither they nor the result are kept.
  c.layout.tp = 1;
  c.job.attention = AttentionKernel::unfused;
  EXPECT_DOUBLE_EQ(saved(), kept - 2048 * (2 * 4096 + 4 * 32));
  const double scores = 32.0 * kSecondTokens * 2 * 2 * 4096 * 2048;  // all heads are 4,096 wide
  EXPECT_DOUBLE_EQ(again(c), kSecondLlama + scores);
}

// Copies of two experts' tokens go out and come back between 8 ranks: 2 x 2,048 tokens each way.
TEST(EverySecondProduct, KeepsWhatWasExchangedAndDoesNotExchangeItAgain) {  // [STEP-28]
  Case c = recomputing("mixtral-8x7b");
  c.layout.dp = 8;
  const auto saved = [&] { return c.lowered().blocks[0].saved.value(); };
  const double alone = saved();
  EXPECT_DOUBLE_EQ(alone, 2048 * (2 * (4096 + 4096 + 1024 + 4096) + 4 * 32));
  c.layout.ep = 8;
  EXPECT_DOUBLE_EQ(saved(), alone + 2 * 2 * 2048 * 2 * 4096);
  for (const Call& call : calls_in(c.lowered().blocks[0].items)) {
    EXPECT_NE(call.phase, Phase::recompute) << to_name(call.op);
  }
}

// Under sequence parallelism what enters the column-split products is gathered again, twice a
// layer, but what was summed and scattered is kept.
TEST(EverySecondProduct, GathersAgainAndScattersOnce) {  // [STEP-28]
  Case c = recomputing("llama-3-8b");
  c.layout.tp = 8;
  const auto calls = calls_in(c.lowered().blocks[0].items);
  const auto count = [&](CollectiveOp op, Phase phase) {
    return count_of(calls, [&](const Call& call) { return call.op == op && call.phase == phase; });
  };
  EXPECT_EQ(count(CollectiveOp::all_gather, Phase::recompute), 2);
  EXPECT_EQ(count(CollectiveOp::reduce_scatter, Phase::recompute), 0);
  EXPECT_EQ(count(CollectiveOp::all_gather, Phase::forward), 2);
}

TEST(EverySecondProduct, HoldsLessThanAllAndMoreThanTheInputsAlone) {  // [STEP-28]
  for (const char* model : {"llama-3-8b", "llama-3-70b", "mixtral-8x7b", "qwen2-7b"}) {
    Case c = recomputing(model);
    const auto saved = [&](Recompute recompute) {
      c.layout.recompute = recompute;
      return c.lowered().blocks[0].saved;
    };
    EXPECT_LT(saved(Recompute::every_second), saved(Recompute::none)) << model;
    EXPECT_GT(saved(Recompute::every_second), saved(Recompute::full)) << model;
  }
}

TEST(EverySecondProduct, IsASettingOfFsdp) {  // [STEP-28]
  Case c = recomputing("llama-3-8b");
  c.job.framework = framework_from("megatron").value();
  const Problems problems = check(c);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE((where_text(problems.front()) + problems.front().message).find("recompute"),
            std::string::npos);
  EXPECT_NE(problems.front().message.find("is a setting of FSDP"), std::string::npos);
}

}  // namespace
}  // namespace headway::testing
