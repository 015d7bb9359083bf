// The products of a step, summed over all its ranks, are the model's FLOPs [STEP-1].
#include <gtest/gtest.h>

#include "step/case_for_test.hpp"

namespace headway::testing {
namespace {

double products(const Op& op) {
  return is_product(op) ? work(op).value() : 0;
}
double attention_forward(const Op& op) {
  return is_attention(op) && op.phase == Phase::forward ? work(op).value() : 0;
}
double attention_backward(const Op& op) {
  return is_attention(op) && op.phase == Phase::backward ? work(op).value() : 0;
}

// Forward FLOPs of attention's two products in the layers and the prediction modules.
double scores_forward(const Case& c, AttentionFlops convention) {
  double per_sequence = 0;
  std::vector<std::uint8_t> kinds = c.model.pattern;
  kinds.insert(kinds.end(), static_cast<std::size_t>(c.model.prediction_layers),
               c.model.pattern.empty() ? std::uint8_t{0} : c.model.pattern.back());
  for (const std::uint8_t kind : kinds) {
    const auto& attention = c.model.kinds[kind].attention;
    if (!attention) continue;
    per_sequence += 2.0 * static_cast<double>(c.job.sequence) *
                    static_cast<double>(attention->heads) *
                    static_cast<double>(attention->head_dim + attention->value_dim) *
                    mean_keys(c.job.sequence, attention->window, convention);
  }
  return per_sequence * static_cast<double>(c.job.global_batch);
}

void expect_model_flops(const Case& c, const std::string& what) {
  expect_legal(c);
  const AttentionFlops convention = c.job.causal ? AttentionFlops::causal : AttentionFlops::full;
  const Step step = c.lowered();
  const double batch = static_cast<double>(c.job.global_batch);
  const double forward = forward_flops(c.model, c.job.sequence, convention).value() * batch;
  const double scores = scores_forward(c, convention);
  // A matrix costs its forward product twice again backward.
  EXPECT_NEAR(sum_over_ranks(c, step, products) / (3 * (forward - scores)), 1, 1e-12) << what;
  EXPECT_NEAR(sum_over_ranks(c, step, attention_forward), scores, 1e-12 * scores) << what;
  // What the step states as model FLOPs is three times the forward pass.
  EXPECT_NEAR(step.model_flops_full.value(),
              3 * batch * forward_flops(c.model, c.job.sequence, AttentionFlops::full).value(),
              1e-12 * forward)
      << what;
  EXPECT_LE(step.model_flops_causal, step.model_flops_full) << what;
}

TEST(StepFlops, ProductsOverAllRanksAreThreeTimesTheModelsForwardPass) {  // [STEP-1]
  for (const char* name :
       {"llama-2-7b", "llama-3-70b", "gpt2-xl", "megatron-22b", "gpt-neox-20b", "gemma-2-9b",
        "qwen2-7b", "opt-1.3b", "mistral-7b", "falcon-7b", "mpt-7b", "phi-3-mini"}) {
    Case c = case_of(name, "dgx-h100");
    c.job.framework = framework_from("fsdp").value();  // does not pad the vocabulary
    c.job.global_batch = 8;
    expect_model_flops(c, name);
  }
}

TEST(StepFlops, HoweverTheRunIsSplit) {  // [STEP-1] [STEP-3] [STEP-4]
  for (const bool causal : {true, false}) {
    for (const ContextExchange exchange : {ContextExchange::ring, ContextExchange::all_to_all}) {
      Case c = case_of("llama-3-70b", "dgx-h100");
      c.job.framework = framework_from("nanotron").value();
      c.job.causal = causal;
      c.job.sequence = 8192;
      c.job.global_batch = 48;
      c.layout = {{.tp = 4, .cp = 2, .micro_batch = 2}, {.pp = 5, .vpp = 2}, {.dp = 3}};
      c.layout.context_exchange = exchange;
      expect_model_flops(c, "llama-3-70b");
    }
  }
}

// Four documents fill the sequence, of which a rank holds less than one: scores are those of four
// sequences of their length.
TEST(StepFlops, DocumentsThatLieOverSeveralRanksHaveTheirOwnScoresAlone) {  // [STEP-3]
  Case c = case_of("llama-3-70b", "dgx-h100");
  c.job.sequence = 65536;
  c.job.document = 16384;
  c.job.global_batch = 2;
  c.layout = {{.tp = 4, .cp = 8}, {}, {.dp = 2}};
  expect_legal(c);
  Case apart = c;
  apart.job.sequence = 16384;
  apart.job.global_batch = 8;
  const double scores = scores_forward(apart, AttentionFlops::causal);
  EXPECT_NEAR(sum_over_ranks(c, c.lowered(), attention_forward), scores, 1e-9 * scores);
}

TEST(StepFlops, PaddedVocabularyAddsProductsOfTheHeadOnly) {  // [STEP-1]
  Case c = case_of("gpt2-xl");                                // 50,257 words
  const auto head = [&](Framework framework) {
    c.job.framework = framework;
    const Step step = c.lowered();
    double out = 0;
    for (const Block& block : step.blocks) {
      if (block.kind != BlockKind::head) continue;
      for (const Op& op : only<Op>(block.items)) out += products(op);
    }
    return out;
  };
  const double words = 6.0 * 2048 * 1600;  // FLOPs a word
  EXPECT_DOUBLE_EQ(head(framework_from("fsdp").value()), words * 50257);
  EXPECT_DOUBLE_EQ(head(framework_from("megatron").value()),
                   words * 50304);  // the next multiple of 128
}

TEST(StepFlops, OfExpertsCountTheActiveOnes) {  // [STEP-1] [STEP-6]
  Case c = case_of("mixtral-8x7b", "dgx-h100");
  c.job.framework = framework_from("fsdp").value();
  c.job.global_batch = 16;
  c.layout = {{.ep = 8}, {}, {.dp = 8}};
  expect_model_flops(c, "mixtral ep 8");
  c.layout = {{.tp = 4, .ep = 4, .etp = 2}, {}, {.dp = 2}};
  expect_model_flops(c, "mixtral tp 4 ep 4 etp 2");
  // Shared experts, a dense first layer, latent attention, a prediction module with its own head.
  Case v3 = case_of("deepseek-v3", "dgx-h100");
  v3.job.framework = framework_from("fsdp").value();
  v3.job.sequence = 4096;
  v3.job.global_batch = 128;
  v3.layout = {{.ep = 64}, {.pp = 2}, {.dp = 64}};
  ASSERT_GT(v3.model.prediction_layers, 0);
  expect_model_flops(v3, "deepseek-v3");
}

TEST(StepFlops, FlashBackwardComputesTheScoresAgain) {  // [STEP-1]
  // Five products against the forward pass's two: 2·(3 d + 2 dv) against 2·(d + dv).
  Case c = case_of("llama-2-7b");
  const Step step = c.lowered();
  EXPECT_DOUBLE_EQ(sum_over_ranks(c, step, attention_backward),
                   2.5 * sum_over_ranks(c, step, attention_forward));
}

TEST(StepFlops, RecomputedAreTheLayersForwardPassOrTheAttentionCore) {  // [STEP-1]
  for (const char* name : {"megatron-22b", "deepseek-v3", "gemma-2-9b"}) {
    Case c = case_of(name, "dgx-h100");
    c.job.framework = framework_from("fsdp").value();
    c.job.global_batch = 64;
    c.model.prediction_layers = 0;
    c.layout.dp = 64;
    if (c.model.kinds.back().experts) c.layout.ep = 64;
    const auto again = [](const Op& op) { return op.recomputed ? work(op).value() : 0; };
    EXPECT_EQ(sum_over_ranks(c, c.lowered(), again), 0) << name;
    EXPECT_EQ(c.lowered().recomputed_flops_full.value(), 0) << name;

    c.layout.recompute = Recompute::full;
    c.layout.recompute_early_stop = Choice::off;
    Step step = c.lowered();
    const double sequences = static_cast<double>(c.job.global_batch);
    double layers = 0;
    for (const std::uint8_t kind : c.model.pattern) {
      layers += sequences * layer_forward_flops(c.model, c.model.kinds[kind], c.job.sequence,
                                                AttentionFlops::causal)
                                .value();
    }
    EXPECT_NEAR(sum_over_ranks(c, step, again), layers, 1e-12 * layers) << name;
    EXPECT_NEAR(step.recomputed_flops_causal.value(), layers, 1e-12 * layers) << name;

    c.layout.recompute = Recompute::selective;
    step = c.lowered();
    const double core = scores_forward(c, AttentionFlops::causal);
    EXPECT_NEAR(sum_over_ranks(c, step, again), core, 1e-12 * core) << name;
    EXPECT_NEAR(step.recomputed_flops_causal.value(), core, 1e-12 * core) << name;
  }
}

// Llama-2-7B: 32 layers of width 4,096 and 11,008, 8 sequences of 2,048 tokens.
TEST(StepFlops, OfSelectiveRecomputationThoseOfItsPiecesRunAgain) {  // [STEP-1]
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.global_batch = 8;
  c.layout.recompute = Recompute::selective;
  const double tokens = 32.0 * 8 * 2048;
  const auto again = [&](Piece piece, AttentionFlops convention) {
    c.layout.recompute_pieces = bit(piece);
    const Step step = c.lowered();
    return (convention == AttentionFlops::full ? step.recomputed_flops_full
                                               : step.recomputed_flops_causal)
        .value();
  };
  for (const AttentionFlops convention : {AttentionFlops::full, AttentionFlops::causal}) {
    EXPECT_EQ(again(Piece::norm, convention), 0);
    // Gate, up and down product: Megatron-Core checkpoints the whole.
    EXPECT_DOUBLE_EQ(again(Piece::feed_forward, convention), tokens * 3 * 2 * 4096 * 11008);
  }
  // Two products of 32 heads of 128 with 2,048 keys, or with half of them and one's own.
  EXPECT_DOUBLE_EQ(again(Piece::core, AttentionFlops::full), tokens * 2 * 2 * 4096 * 2048);
  EXPECT_NEAR(again(Piece::core, AttentionFlops::causal), tokens * 2 * 2 * 4096 * 1024, 1e9);
}

TEST(StepFlops, RecomputationThatStopsEarlyLeavesOutTheLastProduct) {  // [STEP-1]
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.framework = framework_from("fsdp").value();
  c.job.global_batch = 8;
  c.layout.recompute = Recompute::full;
  const auto again = [&](Choice early) {
    c.layout.recompute_early_stop = early;
    return c.lowered().recomputed_flops_full.value();
  };
  const double down = 32.0 * 8 * 2048 * 2 * 4096 * 11008;
  EXPECT_NEAR(again(Choice::off) - again(Choice::on), down, 1e-9 * down);
}

// The rank with the most tokens computes more, another less.
TEST(StepFlops, WhatExpertsComputeAgainIsThatOfTheMeanRank) {  // [STEP-1]
  Case c = case_of("mixtral-8x7b", "dgx-h100");
  c.job.global_batch = 8;
  c.layout.dp = 8;
  c.layout.ep = 8;
  c.layout.recompute = Recompute::full;
  const double balanced = c.lowered().recomputed_flops_full.value();
  c.job.expert_imbalance = 1.5;
  EXPECT_NEAR(c.lowered().recomputed_flops_full.value() / balanced, 1, 1e-3);
}

TEST(StepFlops, AdaptersNeedNoWeightGradientOfTheFrozenMatrices) {  // [STEP-1]
  Case c = case_of("llama-2-7b");
  c.job.framework = framework_from("fsdp").value();
  c.job.task = Task::lora;
  const Step step = c.lowered();
  for (const Block& block : step.blocks) {
    for (const Op& op : only<Op>(block.items)) EXPECT_FALSE(op.weight_gradient);
  }
  const double matrices = forward_flops(c.model, c.job.sequence, AttentionFlops::causal).value() -
                          scores_forward(c, AttentionFlops::causal);
  EXPECT_NEAR(sum_over_ranks(c, step, products) / (2 * matrices), 1, 1e-12);
}

TEST(StepFlops, TensorParallelRanksRepeatKeyValueHeadsWhereThereAreTooFew) {  // [STEP-1]
  Case c = case_of("falcon-7b");  // 71 heads share one key-value head
  c.model.kinds[0].attention->heads = 72;
  const auto keys = [&](std::int64_t tp) {
    c.layout.tp = tp;
    const Step step = c.lowered();
    double out = 0;
    for (const Op& op : only<Op>(step.blocks[0].items)) out += products(op);
    return out * static_cast<double>(tp);
  };
  // Three products of one key and one value head more on each further rank.
  const double repeated = 3 * 2.0 * 2048 * 4544 * 2 * 64;
  EXPECT_NEAR(keys(4) - keys(1), 3 * repeated, 1e-6 * repeated);
}

}  // namespace
}  // namespace headway::testing
