// Options of Megatron-LM: older words, and what is refused or priced by habit.
#include <gtest/gtest.h>

#include "launch/megatron/read_for_test.hpp"
#include "launch/read_back_for_test.hpp"

namespace headway {
namespace {

using testing::field;
using testing::messages;

TEST(LaunchMegatronOptions, RecomputationIsReadInTheWordsOfEveryRelease) {
  const auto recompute = [](const std::string& options) {
    const auto request =
        read("pretrain_gpt.py --num-layers 24 --hidden-size 64 --tensor-model-parallel-size 1 " +
             options + "\n");
    if (!request) return messages(request.problems());
    return field(*request, "recompute") + " " + field(*request, "recompute-every");
  };
  EXPECT_EQ(recompute(""), "(none) (none)");
  EXPECT_EQ(recompute("--checkpoint-activations"), "full (none)");
  EXPECT_EQ(recompute("--checkpoint-activations --checkpoint-num-layers 2"), "full 2");
  // Says how, not whether: checkpoint_activations gives the interval of Megatron-DeepSpeed's
  // pipeline.
  EXPECT_EQ(recompute("--deepspeed-activation-checkpointing --checkpoint-num-layers 1"),
            "(none) (none)");
  EXPECT_EQ(recompute("--activations-checkpoint-method uniform"), "full (none)");
  EXPECT_EQ(recompute("--activations-checkpoint-method uniform "
                      "--activations-checkpoint-num-layers 4"),
            "full 4");
  EXPECT_EQ(recompute("--activations-checkpoint-method block "
                      "--activations-checkpoint-num-layers 24"),
            "full (none)");
  EXPECT_EQ(recompute("--recompute-granularity full --recompute-method uniform "
                      "--recompute-num-layers 1"),
            "full 1");
  EXPECT_EQ(recompute("--recompute-activations"), "selective (none)");
  EXPECT_NE(recompute("--activations-checkpoint-method block "
                      "--activations-checkpoint-num-layers 2")
                .find("--activations-checkpoint-num-layers: recomputes some layers"),
            std::string::npos);
}

// validate_args of core 0.15: main gradients of bf16 leave fp32 accumulation off, and gradients are
// reduced as they are kept.
TEST(LaunchMegatronOptions, MainGradientsIn16BitAreReducedIn16Bit) {
  const auto small = [](const std::string& options) {
    const auto request =
        read("pretrain_gpt.py --num-layers 24 --hidden-size 64 --bf16 " + options + "\n");
    return request ? field(*request, "small-gradients") : messages(request.problems());
  };
  EXPECT_EQ(small("--use-precision-aware-optimizer --main-grads-dtype bf16"), "true");
  EXPECT_EQ(small("--use-precision-aware-optimizer --main-grads-dtype fp32"), "(none)");
}

TEST(LaunchMegatronOptions, OneExpertIsADenseLayer) {
  const auto request = read(
      "pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 128 "
      "--vocab-size 100 --micro-batch-size 1 --global-batch-size 1 --num-experts 1\n");
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  RunRequest fields = request->fields;
  fields.push_back({"cluster", "dgx-h100"});
  fields.push_back({"gpus", "1"});
  const auto run = make_run(fields);
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  EXPECT_FALSE(has_experts(run->model));
}

// Each known to change the step in a way that no field says; beside it what makes it harmless.
TEST(LaunchMegatronOptions, WhatChangesTheStepAndIsNotUnderstoodIsRefusedAtItsLine) {
  const std::string command = "pretrain_gpt.py --num-layers 24 --hidden-size 64 ";
  struct Case {
    const char *refused, *harmless;
  };
  for (const Case& one : std::initializer_list<Case>{
           {"--moe-shared-expert-overlap", ""},
           {"--fp32-residual-connection", ""},
           {"--exp-avg-dtype bf16", "--exp-avg-dtype fp32"},
           {"--optimizer-offload-fraction 0.5", "--optimizer-offload-fraction 1.0"},
           {"--moe-expert-capacity-factor 2", "--moe-expert-capacity-factor 1.0"},
           {"--distribute-saved-activations --tensor-model-parallel-size 2",
            "--distribute-saved-activations --tensor-model-parallel-size 1"},
           {"--scattered-embeddings --tensor-model-parallel-size 2", "--scattered-embeddings"},
           {"--bf16 --main-grads-dtype fp8", "--bf16 --main-grads-dtype fp32"},
           {"--sync-tp-duplicated-parameters --tensor-model-parallel-size 2",
            "--sync-tp-duplicated-parameters --tensor-model-parallel-size 1"},
           {"--tp-comm-overlap --disable-tp-comm-overlap-rs", "--disable-tp-comm-overlap-rs"},
           {"--fp16 --accumulate-allreduce-grads-in-fp32",
            "--bf16 --accumulate-allreduce-grads-in-fp32"},
           {"--position-embedding-type relative", "--position-embedding-type rope"},
           {"--num-experts 64 128", "--num-experts 64 64"},
           {"--cpu-offloading-num-layers 3", "--cpu-offloading-num-layers 23"},
           {"--my-recompute-method fancy", "--my-own-option fancy"},
           {"--ulysses-degree 2", "--lr 2"}}) {
    EXPECT_FALSE(read(command + one.refused + "\n").ok()) << one.refused;
    const auto harmless = read(command + one.harmless + "\n");
    EXPECT_TRUE(harmless.ok()) << one.harmless << messages(harmless.problems());
  }
  const auto bert = read("pretrain_bert.py --num-layers 24 --hidden-size 64\n");
  ASSERT_FALSE(bert.ok());
  EXPECT_EQ(where_text(bert.problems()[0]), "train.sh:1: pretrain_bert.py");
}

TEST(LaunchMegatronOptions, WhatIsPricedByHabitIsTold) {
  const auto request = read("pretrain_gpt.py --num-layers 24 --ddp-num-buckets 10 --lr 3\n");
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->notes, std::vector<std::string>{
                                "--ddp-num-buckets sets the number of gradient buckets; priced "
                                "by the framework's habit"});
}

// [STEP-18] Megatron counts the parameters of a bucket, whose gradients are sent in fp32, or in 16
// bit where that is asked for; without overlap it cuts no buckets.
TEST(LaunchMegatronOptions, ABucketsParametersAreReadAsWhatIsSent) {
  const std::string command =
      "pretrain_gpt.py --num-layers 24 --bf16 --use-distributed-optimizer --ddp-bucket-size "
      "40000000 ";
  EXPECT_EQ(field(*read(command + "--overlap-grad-reduce\n"), "bucket-size"), "160 MB");
  EXPECT_EQ(field(*read(command + "--overlap-grad-reduce --grad-reduce-in-bf16\n"), "bucket-size"),
            "80 MB");
  const auto idle = read(command + "\n");
  ASSERT_TRUE(idle.ok()) << messages(idle.problems());
  EXPECT_EQ(field(*idle, "bucket-size"), "(none)");
  ASSERT_EQ(idle->notes.size(), 1u);
  EXPECT_FALSE(read("pretrain_gpt.py --num-layers 24 --ddp-bucket-size 0\n").ok());
}

TEST(LaunchMegatronOptions, VocabulariesArePaddedAsTheScriptAsks) {
  const auto rows = [](const std::string& options) {
    const auto request = read(
        "pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 128 "
        "--micro-batch-size 1 --global-batch-size 4 " +
        options + "\n");
    RunRequest fields = request->fields;
    fields.push_back({"cluster", "dgx-h100"});
    fields.push_back({"gpus", "4"});
    return make_run(fields)->model.vocabulary;
  };
  EXPECT_EQ(rows("--vocab-size 50257"), 50257);  // every step pads to 128 x tp
  EXPECT_EQ(rows("--vocab-size 50257 --make-vocab-size-divisible-by 1024"), 51200);
  EXPECT_EQ(rows("--vocab-size 50257 --make-vocab-size-divisible-by 1024 "
                 "--tensor-model-parallel-size 2 --gpus 2"),
            51200);
  EXPECT_EQ(rows("--vocab-size 50257 --make-vocab-size-divisible-by 25600 "
                 "--tensor-model-parallel-size 4"),
            102400);
}

}  // namespace
}  // namespace headway
