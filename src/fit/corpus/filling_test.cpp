// Cells that a row leaves empty: what follows from others, and what is taken.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/source_dir_for_test.hpp"
#include "base/text.hpp"
#include "fit/corpus/forecast.hpp"
#include "fit/corpus/rules.hpp"
#include "fit/corpus/run_for_test.hpp"

namespace headway {
namespace {

TEST(CorpusRun, WhatIsNotStatedIsFilledByPolicyAndNamed) {
  const auto run = run_with({{"micro_batch", ""},
                             {"grad_accum", "8"},
                             {"zero_stage", ""},
                             {"recompute", ""},
                             {"tp", ""},
                             {"precision", ""},
                             {"n_accel", "16"}});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->layout.micro_batch, 2);  // 128 / (8 x dp 8)
  EXPECT_TRUE(assumes(run, "micro_batch=2"));
  EXPECT_TRUE(assumes(run, "zero_stage=1"));
  EXPECT_TRUE(assumes(run, "tp=1"));
  EXPECT_TRUE(assumes(run, "precision=bf16"));
  EXPECT_TRUE(assumes(run, "inter_node_network_gbps_per_accel=dgx-h100"));
  ASSERT_FALSE(run->remedies.empty());
}

TEST(CorpusRun, RecomputationIsLeftOpenByFramework) {
  EXPECT_EQ(run_with({{"recompute", ""}, {"framework", "PyTorch FSDP2"}})->remedies,
            (std::vector<Remedy>{{Recompute::none}, {Recompute::selective}, {Recompute::full}}));
  EXPECT_EQ(run_with({{"recompute", ""}, {"framework", "nanotron"}})->remedies,
            (std::vector<Remedy>{{Recompute::none}}));
  EXPECT_EQ(run_with({{"recompute", ""}, {"framework", "Megatron-LM"}})->remedies,
            (std::vector<Remedy>{{Recompute::none}, {Recompute::selective}}));
  EXPECT_TRUE(run_with({{"recompute", "full"}})->remedies.empty());
}

// 70B in bf16 with 4 sequences of 8,192 a rank: what a policy keeps of 80 layers is a hundred times
// what 32 GB hold beside the states; of an H100 with short sequences it fits.
TEST(CorpusRun, XlaComputesAgainWhatDoesNotFitWhateverAPolicyKeeps) {
  const auto settled = [](const char* accelerator, const char* sequence) {
    auto run = run_with({{"framework", "MaxText"},
                         {"recompute", "selective"},
                         {"accelerator", accelerator},
                         {"model_name", "LLAMA3-8B"},
                         {"n_accel", "8"},
                         {"seq_len", sequence},
                         {"micro_batch", "3"},
                         {"global_batch_sequences", "24"}});
    EXPECT_TRUE(run.ok());
    settle_recomputation(run.value());
    return std::pair(run->layout.recompute, assumes(run, "recompute=full"));
  };
  EXPECT_EQ(settled("TPU v6e (Trillium)", "8192"), std::pair(Recompute::full, true));
  EXPECT_EQ(settled("H100", "512"), std::pair(Recompute::selective, false));
}

TEST(CorpusRun, TheBatchFollowsFromItsParts) {
  EXPECT_EQ(run_with({{"global_batch_sequences", ""}, {"grad_accum", "4"}})->job.global_batch, 16);
  EXPECT_EQ(run_with({{"global_batch_sequences", ""}, {"pp", "2"}})->job.global_batch,
            2 * 8 * 2);  // dp 2, 8 micro-batches a stage
}

// 8 ranks at 10,240 tokens/s make 409,600 tokens in 5 s, 100 sequences of 4,096: of dp 4 and
// micro-batches of 1 the next multiple is the same.
TEST(CorpusRun, TheBatchFollowsFromTheTimeOfAStepAndItsRate) {
  const auto run = run_with({{"global_batch_sequences", ""},
                             {"grad_accum", ""},
                             {"micro_batch", "1"},
                             {"seq_len", "4096"},
                             {"step_time_s", "5"},
                             {"tokens_per_s_per_accel", "10240"}});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->layout.dp, 4);
  EXPECT_EQ(run->job.global_batch, 100);
  EXPECT_TRUE(run->derived.contains("global_batch_sequences"));
}

// per_device_batch_size of MaxText counts by device: 8 devices of tp 2 (dp 4) at 1 hold 2 sequences
// each four times.
TEST(CorpusRun, JaxRunsTheWholeBatchAtOnce) {
  const auto run = run_with({{"framework", "MaxText (JAX)"},
                             {"cp", "1"},
                             {"tp", "2"},
                             {"global_batch_sequences", "8"},
                             {"micro_batch", "1"}});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->layout.dp, 4);
  EXPECT_EQ(run->layout.micro_batch, 2);
}

TEST(CorpusRun, SlicesShardStatesAmongTheirOwnRanks) {
  const auto run = run_with({{"framework", "MaxText (JAX)"},
                             {"accelerator", "TPU v5e"},
                             {"accel_memory_gb", ""},
                             {"n_accel", "512"},
                             {"cp", "1"},
                             {"tp", "16"},
                             {"zero_stage", "3"},
                             {"global_batch_sequences", "512"},
                             {"notes", "2 slices of 256 chips (DCN data parallel across slices)"}});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->layout.dp, 32);
  EXPECT_EQ(run->layout.shard, 16);  // 256 chips of 16 each
}

// gcd(32 experts, 8 ranks of a stage)
TEST(CorpusRun, DeepEpSpreadsExpertsOverTheRanksOfAStage) {
  const CorpusCells cells = {{"framework", "NeMo AutoModel (PyTorch FSDP2)"},
                             {"model_name", "GPT-OSS-20B"},
                             {"cp", "1"},
                             {"notes", "kernels=TE + DeepEP"}};
  const auto run = run_with(cells);
  ASSERT_TRUE(run.ok()) << run.problems().front().message;
  EXPECT_EQ(run->layout.ep, 8);
  EXPECT_EQ(run->layout.dispatch, Dispatch::once);
  EXPECT_TRUE(assumes(run, "ep=8"));
  EXPECT_FALSE(assumes(run, "ep=1"));
  EXPECT_TRUE(run->job.fused);
  CorpusCells eager = cells;
  eager["notes"] = "kernels=-";
  EXPECT_FALSE(run_with(eager)->job.fused);
}

// Between 4 sequences of 8,192, the least, and 2 M tokens, 244 of them: 4 x sqrt(61) is 31.
TEST(CorpusRun, ABatchThatNothingTellsLiesBetweenTheLeastAndThatOfItsSize) {
  const CorpusCells open = {{"global_batch_sequences", ""},
                            {"grad_accum", ""},
                            {"micro_batch", "1"},
                            {"seq_len", "8192"},
                            {"step_time_s", ""}};
  const auto run = run_with(open);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->job.global_batch, 32);  // of 4
  EXPECT_FALSE(run->derived.contains("global_batch_sequences"));
  CorpusCells tuning = open;
  tuning["task"] = "sft";
  EXPECT_EQ(run_with(tuning)->job.global_batch, 4);
}

// 8B parameters take some 52 GFLOP a token at 8,192 tokens; 16-bit products of H100 peak at 989
// TFLOP/s, three quarters of which make 14,000 tokens/s.
TEST(CorpusRun, WhatIsTooFastForSixteenBitsIsInEight) {
  const auto at = [](const char* rate) {
    return run_with({{"precision", ""}, {"step_time_s", ""}, {"tokens_per_s_per_accel", rate}});
  };
  EXPECT_EQ(at("10000")->job.recipe->name, "bf16");
  EXPECT_FALSE(at("10000")->derived.contains("precision"));
  EXPECT_EQ(at("17000")->job.recipe->name, "fp8");
  // An A100 has no faster products: there is nothing to guess.
  const auto a100 = run_with({{"precision", ""}, {"accelerator", "A100"}});
  EXPECT_TRUE(a100->derived.contains("precision"));
}

// The published shapes of Llama 2 7B (6.74e9 parameters, 32 layers of 4,096, 32 heads, 11,008) and
// GPT-3 125M (heads of 64), some of them left out.
TEST(CorpusRun, LayersHeadsAndWidthsFollowFromParametersAndWidth) {
  CorpusCells cells = {
      {"model_name", "Mine"}, {"n_params", "6738415616"}, {"d_model", "4096"}, {"layers", ""},
      {"n_heads", ""},        {"n_kv_heads", ""},         {"d_ff", "11008"},   {"vocab", "32000"}};
  const auto by_count = run_with(cells);
  ASSERT_TRUE(by_count.ok());
  EXPECT_EQ(by_count->model.layers(), 32);
  EXPECT_EQ(by_count->model.kinds.front().attention->heads, 32);
  EXPECT_TRUE(assumes(by_count, "layers=32"));
  EXPECT_TRUE(assumes(by_count, "n_heads=32"));
  cells["d_ff"] = "";  // two thirds of four widths: 10,922, of 256s 10,752
  const auto by_width = run_with(cells);
  EXPECT_EQ(by_width->model.kinds.front().feed_forward->width, 10752);
  EXPECT_EQ(by_width->model.layers(), 33);
  cells["n_params"] = "";
  EXPECT_EQ(reason_with(cells), "cell missing: layers");
  cells["model_name"] = "Mine-7b";  // the name says the size
  EXPECT_EQ(run_with(cells)->model.layers(), 34);
  cells = {{"model_name", "Small"}, {"n_params", "124e6"}, {"d_model", "768"}, {"layers", "12"},
           {"n_heads", ""},         {"n_kv_heads", ""},    {"d_ff", "3072"},   {"gated_mlp", "0"}};
  EXPECT_EQ(run_with(cells)->model.kinds.front().attention->heads, 12);
}

// Mixtral 8x7B: 46.7e9 parameters, 32 layers of 4,096, 8 experts of 14,336.
TEST(CorpusRun, TheWidthOfExpertsFollowsFromTheParameters) {
  const auto run = run_with({{"model_name", "Mine"},
                             {"n_params", "46702792704"},
                             {"d_ff", ""},
                             {"vocab", "32000"},
                             {"n_experts", "8"},
                             {"top_k", "2"}});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->model.kinds.front().experts->each.width, 14336);
}

TEST(CorpusRun, TheParametersTellTiesAndTheWidthThatIsNotStated) {
  CorpusCells cells = {
      {"model_name", "Llama-like"}, {"layers", "10"}, {"d_model", "512"}, {"n_heads", "8"},
      {"n_kv_heads", ""},           {"d_ff", "1024"}, {"vocab", "1000"},  {"n_params", "26.7e6"}};
  // 26,737,152 tied and 27,249,152 untied, by the sum above.
  EXPECT_TRUE(run_with(cells)->model.tied_embeddings);
  cells["n_params"] = "27.3e6";
  EXPECT_FALSE(run_with(cells)->model.tied_embeddings);
  cells["notes"] = "tie_word_embeddings=True";
  EXPECT_TRUE(run_with(cells)->model.tied_embeddings);
  cells["d_ff"] = "";
  EXPECT_EQ(run_with(cells)->model.kinds[0].feed_forward->width, 1024);
}

TEST(CorpusRun, ChunksAreAtMostTheLayers) {
  const auto run = run_with({{"n_accel", "16"},
                             {"pp", "8"},
                             {"cp", "1"},
                             {"vpp", "5"},
                             {"global_batch_sequences", "128"}});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->layout.vpp, 4);  // 32 layers on 8 stages
  EXPECT_TRUE(assumes(run, "vpp=4"));
  // The 8 slots that made 40 chunks of 32 layers are gone with those chunks.
  EXPECT_EQ(run->layout.embedding_slots + run->layout.head_slots, 0);
  EXPECT_FALSE(assumes(run, "head_slots=8"));
}

TEST(CorpusRun, TheDocumentedPolicyIsTheOneInTheData) {
  std::ifstream file(source_dir() + "/docs/validation.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const FillingRule& each : corpus_rules().policy) {
    const std::string line = "| " + each.cell + " | " + each.rule + " |";
    EXPECT_NE(text.str().find(line), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace headway
