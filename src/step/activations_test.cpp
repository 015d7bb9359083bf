// Activations kept for the backward pass [STEP-5], against the closed forms of arXiv 2205.05198 §4.
// s sequence, b micro-batch, h hidden width, a heads, t tensor degree; 16 bit, dropout, attention
// not fused, GELU of four times the width. Bytes of one layer:
//   attention  2 input of q, k, v | 4 q and k | 2 v | 2 input of the projection | 1 dropout mask
//              (sbh each) and 2 softmax + 1 mask + 2 dropped softmax (a·s²·b each): 11 sbh + 5 as²b
//   MLP        2 + 8 inputs of its products | 8 input of GELU | 1 mask: 19 sbh
//   two norms  2 each: 4 sbh
#include <gtest/gtest.h>

#include <algorithm>

#include "step/case_for_test.hpp"

namespace headway::testing {
namespace {

struct Sizes {
  double s = 2048, b, h = 6144, a = 64, t;
  double sbh() const { return s * b * h; }
  double scores() const { return 5 * a * s * s * b; }
};

Case gpt_22b(std::int64_t tp, std::int64_t micro_batch) {
  Case c = case_of("megatron-22b");
  c.job.global_batch = micro_batch;
  c.job.attention = AttentionKernel::unfused;
  c.layout.tp = tp;
  c.layout.micro_batch = micro_batch;
  return c;
}

double saved(const Case& c) {
  expect_legal(c);
  return c.lowered().blocks[0].saved.value();
}

TEST(Activations, OfOneRankAre34And5asOverH) {  // [STEP-5] equation 1
  const Sizes x{.b = 4, .t = 1};
  EXPECT_DOUBLE_EQ(saved(gpt_22b(1, 4)), 34 * x.sbh() + x.scores());
}

TEST(Activations, UnderTensorParallelismAlone10AreHeldWhole) {  // [STEP-5] equation 2
  for (const std::int64_t t : {2, 4, 8}) {
    const Sizes x{.b = 2, .t = static_cast<double>(t)};
    Case c = gpt_22b(t, 2);
    c.layout.sequence_parallel = false;
    EXPECT_DOUBLE_EQ(saved(c), (10 + 24 / x.t) * x.sbh() + x.scores() / x.t) << t;
  }
}

TEST(Activations, UnderSequenceParallelismAllAreSplit) {  // [STEP-5] equation 4
  for (const std::int64_t t : {2, 4, 8}) {
    const Sizes x{.b = 2, .t = static_cast<double>(t)};
    EXPECT_DOUBLE_EQ(saved(gpt_22b(t, 2)), (34 * x.sbh() + x.scores()) / x.t) << t;
  }
}

// Gate and up, of r tokens and f columns each, in one byte instead of two; the fused kernel writes
// them besides and reads half as much back.
TEST(Activations, GatedInputsIn8BitAreHalfAsLarge) {  // [STEP-5]
  Case c = case_of("llama-3-8b");
  c.job.global_batch = 1;
  const auto passes = [](const Block& block) {
    Bytes out(0);
    for (const Op& op : only<Op>(block.items)) {
      if (const auto* pass = std::get_if<Pass>(&op.shape)) out += pass->moved;
    }
    return out.value();
  };
  const double columns = 14336, tokens = static_cast<double>(c.job.sequence);
  const double kept = saved(c), moved = passes(c.lowered().blocks[0]);
  c.job.small_activation_inputs = true;
  EXPECT_DOUBLE_EQ(kept - saved(c), 2 * tokens * columns);
  EXPECT_DOUBLE_EQ(passes(c.lowered().blocks[0]) - moved,
                   2 * tokens * columns - 2 * tokens * columns);
}

TEST(Activations, SelectiveRecomputationKeepsNoScores) {  // [STEP-5] table 2
  Case c = gpt_22b(8, 4);
  c.layout.recompute = Recompute::selective;
  const Sizes x{.b = 4, .t = 8};
  EXPECT_DOUBLE_EQ(saved(c), 34 * x.sbh() / x.t);
  c.layout.sequence_parallel = false;
  EXPECT_DOUBLE_EQ(saved(c), (10 + 24 / x.t) * x.sbh());
}

TEST(Activations, FullRecomputationKeepsTheInput) {  // [STEP-5] table 2
  Case c = gpt_22b(8, 4);
  c.layout.recompute = Recompute::full;
  const Sizes x{.b = 4, .t = 8};
  EXPECT_DOUBLE_EQ(saved(c), 2 * x.sbh() / 8);  // the residual is split, too
  c.layout.recompute_every = 4;
  EXPECT_DOUBLE_EQ(saved(c), 2 * x.sbh() / 8 / 4);
  c.layout.recompute_every = 1;
  c.layout.sequence_parallel = false;
  EXPECT_DOUBLE_EQ(saved(c), 2 * x.sbh());
}

// [STEP-16] Of four layers one keeps its input and three all; while that one runs again it holds
// what the others hold.
TEST(Activations, RecomputationOfOneInSomeLayersKeepsTheMean) {
  Case c = gpt_22b(8, 4);
  const Step none = c.lowered();
  c.layout.recompute = Recompute::full;
  const Step full = c.lowered();
  c.layout.recompute_one_in = 4;
  expect_legal(c);
  const Step some = c.lowered();
  const auto saved_of = [](const Step& step) { return step.blocks[0].saved.value(); };
  EXPECT_DOUBLE_EQ(saved_of(some), 0.25 * saved_of(full) + 0.75 * saved_of(none));
  EXPECT_NEAR(some.recomputed_flops_full.value(), 0.25 * full.recomputed_flops_full.value(),
              1e-9 * full.recomputed_flops_full.value());
  const auto layers = static_cast<double>(c.model.layers());
  const auto held = [](const Step& step) { return step.held.memory.activations.value(); };
  EXPECT_NEAR(held(some) - held(full), layers * (saved_of(some) - saved_of(full)),
              1e-9 * held(some));
  double calls_full = 0, calls_some = 0;
  for (const Call& call : only<Call>(full.blocks[0].items)) {
    if (call.phase == Phase::recompute) calls_full += call.count;
  }
  for (const Call& call : only<Call>(some.blocks[0].items)) {
    if (call.phase == Phase::recompute) calls_some += call.count;
  }
  EXPECT_GT(calls_full, 0);
  EXPECT_DOUBLE_EQ(calls_some, 0.25 * calls_full);
  // Of fewer layers than that none runs again.
  c.layout.recompute_one_in = c.model.layers() + 1;
  EXPECT_NEAR(held(c.lowered()), held(none), 1e-9 * held(none));
}

TEST(Activations, FlashAttentionKeepsALogSumExpInPlaceOfScores) {  // [STEP-5]
  Case c = gpt_22b(8, 4);
  c.job.attention = AttentionKernel::flash2;
  const Sizes x{.b = 4, .t = 8};
  const double log_sum_exp = 4 * x.a * x.s * x.b;  // fp32 for each head and query
  EXPECT_DOUBLE_EQ(saved(c), (34 * x.sbh() + log_sum_exp) / x.t);
  c.layout.recompute = Recompute::selective;
  EXPECT_DOUBLE_EQ(saved(c), 34 * x.sbh() / x.t);
}

TEST(Activations, WithoutDropoutThreeMasksFewer) {  // [STEP-5]
  Case c = gpt_22b(1, 4);
  c.job.dropout = 0;
  const Sizes x{.b = 4, .t = 1};
  // 34 less two masks of sbh; of the scores the softmax alone is kept: 2 of 5.
  EXPECT_DOUBLE_EQ(saved(c), 32 * x.sbh() + x.scores() * 2 / 5);
}

TEST(Activations, OfALlamaLayer) {  // [STEP-5]
  // RMS norms 2·2; input of q, k, v 2; q 2; k and v 2·2·(8/64); result 2; input of the gated part
  // 2; gate and up 4·w, their product 2·w with w = 28672/8192 = 3.5: 4 + 2 + 2 + 0.5 + 2 + 2 + 21.
  Case c = case_of("llama-2-70b");
  c.layout.tp = 8;
  const double sbh = 2048.0 * 8192;
  const double log_sum_exp = 4 * 64 * 2048.0;
  EXPECT_DOUBLE_EQ(saved(c), ((4 + 2 + 2 + 0.5 + 2 + 2 + 21) * sbh + log_sum_exp) / 8);
}

TEST(Activations, APieceThatRunsAgainKeepsNothingItProduced) {  // [STEP-5]
  // Of the layer above: norms' results 2 + 2, gate, up and product 21, log-sum-exp.
  Case c = case_of("llama-2-70b");
  const double whole = saved(c);
  const double sbh = 2048.0 * 8192;
  c.layout.recompute = Recompute::selective;
  const auto dropped = [&](std::uint8_t pieces) {
    c.layout.recompute_pieces = pieces;
    return whole - saved(c);
  };
  EXPECT_DOUBLE_EQ(dropped(bit(Piece::core)), 4 * 64 * 2048.0);
  EXPECT_DOUBLE_EQ(dropped(bit(Piece::norm)), 4 * sbh);
  EXPECT_DOUBLE_EQ(dropped(bit(Piece::feed_forward)), 21 * sbh);
  EXPECT_DOUBLE_EQ(dropped(bit(Piece::norm) | bit(Piece::feed_forward)), 25 * sbh);
  EXPECT_DOUBLE_EQ(dropped(bit(Piece::latent_up) | bit(Piece::experts)), 0);
}

TEST(Activations, OfExpertsWithTheirActivationRunAgain) {  // [STEP-5]
  // mixtral-8x7b: two copies of 2,048 tokens, experts of width 14,336. The second product's input
  // is dropped; gate and up, from which it is computed again, stay.
  Case c = case_of("mixtral-8x7b");
  const double whole = saved(c);
  c.layout.recompute = Recompute::selective;
  c.layout.recompute_pieces = bit(Piece::activation);
  EXPECT_DOUBLE_EQ(whole - saved(c), 2 * 2048.0 * 14336 * 2);
  const Block layer = c.lowered().blocks[0];
  int again = 0;
  for (const Op& op : only<Op>(layer.items)) again += op.recomputed ? 1 : 0;
  EXPECT_EQ(again, 1);
}

TEST(Activations, OfADenseModelWithItsActivationRunAgain) {  // [STEP-5]
  // llama-2-7b: 2,048 tokens, width 11,008: the down projection's input is dropped.
  Case c = case_of("llama-2-7b");
  const double whole = saved(c);
  c.layout.recompute = Recompute::selective;
  c.layout.recompute_pieces = bit(Piece::activation);
  EXPECT_DOUBLE_EQ(whole - saved(c), 2048.0 * 11008 * 2);
}

TEST(Activations, MoreTensorParallelismNeverNeedsMoreUnderSequenceParallelism) {  // [STEP-9]
  for (const char* name : {"megatron-22b", "llama-3-70b", "mixtral-8x22b", "gpt3-175b"}) {
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      Case c = case_of(name);
      c.layout.recompute = recompute;
      double before = 1e300;
      for (c.layout.tp = 1; c.layout.tp <= 8; c.layout.tp *= 2) {
        expect_legal(c);
        const double now = c.lowered().held.memory.activations.value();
        EXPECT_LE(now, before) << name << " tp " << c.layout.tp;
        before = now;
      }
    }
  }
}

TEST(Activations, ContextParallelismSplitsTokens) {  // [STEP-3] [STEP-5]
  Case whole = gpt_22b(1, 1);
  whole.job.attention = AttentionKernel::flash2;
  Case split = whole;
  split.layout.cp = 4;
  EXPECT_DOUBLE_EQ(saved(split), saved(whole) / 4);
  split.layout.context_exchange = ContextExchange::all_to_all;
  EXPECT_DOUBLE_EQ(saved(split), saved(whole) / 4);
}

TEST(Activations, LogitsAreAliveInOneMicroBatchOnly) {  // [STEP-7]
  // The 16-bit logits, their fp32 copy and the gradient: 10 bytes for each token and local word;
  // beside them the final norm's input and the head's, 2 sbh each.
  Case c = case_of("megatron-22b");
  c.layout.tp = 8;
  const Step step = c.lowered();
  const Block& head = step.blocks[2];
  ASSERT_EQ(head.kind, BlockKind::head);
  EXPECT_DOUBLE_EQ(head.working.value(), 2048.0 * 51200 / 8 * 10);
  EXPECT_DOUBLE_EQ(head.saved.value(), 2048.0 * 6144 * 2 * (1.0 / 8 + 1));
  // More micro-batches in flight do not multiply them.
  c.layout.pp = 2;
  c.job.global_batch = 1;
  const double one = c.lowered().held.memory.activations.value();
  c.job.global_batch = 2;
  const double two = c.lowered().held.memory.activations.value();
  EXPECT_LT(two - one, 24 * 34 * 2048.0 * 6144 / 8 * 1.1);
}

// [STEP-9] Under sequence parallelism a layer at work holds two gathered inputs and two results
// that are not reduced yet, s·b·h in 16 bit each and no tp-th of it.
TEST(Activations, ALayerAtWorkHoldsWhatItGathersWhole) {
  Case c = case_of("megatron-22b");
  c.layout.tp = 8;
  EXPECT_DOUBLE_EQ(c.lowered().blocks.front().working.value(), 4 * 2048.0 * 6144 * 2);
  c.layout.sequence_parallel = false;
  EXPECT_EQ(c.lowered().blocks.front().working.value(), 0);
}

// Of the 34 sbh, 2 + 8 enter the products of the feed-forward part, which train nothing here.
TEST(Activations, WithoutAdaptersNoInputOfAFrozenWeightIsKept) {
  Case c = gpt_22b(1, 1);
  Sizes x{.b = 1, .t = 1};
  c.job.task = Task::lora;
  c.job.adapters = Adapters::query_key_value;
  EXPECT_DOUBLE_EQ(saved(c), (34 - 2 - 8) * x.sbh() + x.scores());
}

// What adapters read is in 16 bit, and no 8-bit copy is kept beside it.
TEST(Activations, AdaptersOf8BitWeightsKeepWhatThoseOf16BitWeightsDo) {
  for (const char* model : {"megatron-22b", "llama-2-7b", "mixtral-8x7b"}) {
    Case c = case_of(model, "dgx-h100");
    c.job.task = Task::lora;
    const double wide = saved(c);
    c.job.recipe = recipe_from("fp8");
    EXPECT_DOUBLE_EQ(saved(c), wide) << model;
  }
}

}  // namespace
}  // namespace headway::testing
