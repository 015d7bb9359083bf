#include "launch/megatron/megatron.hpp"

#include <gtest/gtest.h>

#include <set>

#include "launch/megatron/read_for_test.hpp"
#include "launch/read_back_for_test.hpp"

namespace headway {
namespace {

using testing::field;
using testing::messages;

// Options of Megatron-LM core 0.15.0, from its parser (megatron/training/arguments.py).
const std::set<std::string> kDocumented = {"--num-layers",
                                           "--hidden-size",
                                           "--ffn-hidden-size",
                                           "--num-attention-heads",
                                           "--attention-backend",
                                           "--kv-channels",
                                           "--group-query-attention",
                                           "--num-query-groups",
                                           "--softmax-type",
                                           "--window-size",
                                           "--window-attn-skip-freq",
                                           "--max-position-embeddings",
                                           "--position-embedding-type",
                                           "--rotary-base",
                                           "--rotary-percent",
                                           "--normalization",
                                           "--norm-epsilon",
                                           "--squared-relu",
                                           "--swiglu",
                                           "--quick-geglu",
                                           "--untie-embeddings-and-output-weights",
                                           "--multi-latent-attention",
                                           "--mtp-num-layers",
                                           "--attention-dropout",
                                           "--hidden-dropout",
                                           "--weight-decay",
                                           "--clip-grad",
                                           "--micro-batch-size",
                                           "--global-batch-size",
                                           "--recompute-activations",
                                           "--recompute-granularity",
                                           "--recompute-method",
                                           "--recompute-num-layers",
                                           "--recompute-modules",
                                           "--cpu-offloading-num-layers",
                                           "--tp-comm-overlap",
                                           "--no-check-for-nan-in-loss-and-grad",
                                           "--train-iters",
                                           "--train-samples",
                                           "--log-interval",
                                           "--no-masked-softmax-fusion",
                                           "--no-bias-gelu-fusion",
                                           "--no-bias-swiglu-fusion",
                                           "--no-bias-dropout-fusion",
                                           "--no-rope-fusion",
                                           "--cross-entropy-loss-fusion",
                                           "--cross-entropy-fusion-impl",
                                           "--use-flash-attn",
                                           "--disable-bias-linear",
                                           "--add-qkv-bias",
                                           "--optimizer",
                                           "--optimizer-cpu-offload",
                                           "--sequence-parallel",
                                           "--seed",
                                           "--lr",
                                           "--finetune",
                                           "--ckpt-format",
                                           "--fp16",
                                           "--bf16",
                                           "--grad-reduce-in-bf16",
                                           "--activation-func-fp8-input-store",
                                           "--accumulate-allreduce-grads-in-fp32",
                                           "--tensor-model-parallel-size",
                                           "--pipeline-model-parallel-size",
                                           "--decoder-first-pipeline-num-layers",
                                           "--decoder-last-pipeline-num-layers",
                                           "--pipeline-model-parallel-layout",
                                           "--num-layers-per-virtual-pipeline-stage",
                                           "--num-virtual-stages-per-pipeline-rank",
                                           "--overlap-grad-reduce",
                                           "--ddp-bucket-size",
                                           "--overlap-param-gather",
                                           "--account-for-embedding-in-pipeline-split",
                                           "--account-for-loss-in-pipeline-split",
                                           "--use-distributed-optimizer",
                                           "--use-megatron-fsdp",
                                           "--data-parallel-sharding-strategy",
                                           "--num-distributed-optimizer-instances",
                                           "--use-torch-fsdp2",
                                           "--context-parallel-size",
                                           "--cp-comm-type",
                                           "--use-tp-pp-dp-mapping",
                                           "--eval-iters",
                                           "--vocab-size",
                                           "--padded-vocab-size",
                                           "--tokenizer-type",
                                           "--mock-data",
                                           "--seq-length",
                                           "--qk-layernorm",
                                           "--expert-model-parallel-size",
                                           "--expert-tensor-parallel-size",
                                           "--num-experts",
                                           "--moe-layer-freq",
                                           "--moe-ffn-hidden-size",
                                           "--moe-shared-expert-intermediate-size",
                                           "--moe-grouped-gemm",
                                           "--moe-router-score-function",
                                           "--moe-router-topk",
                                           "--moe-router-enable-expert-bias",
                                           "--moe-token-dispatcher-type",
                                           "--moe-enable-deepep",
                                           "--overlap-moe-expert-parallel-comm",
                                           "--q-lora-rank",
                                           "--kv-lora-rank",
                                           "--qk-head-dim",
                                           "--qk-pos-emb-head-dim",
                                           "--v-head-dim",
                                           "--use-precision-aware-optimizer",
                                           "--fp8-format",
                                           "--fp8-recipe",
                                           "--fp4-format",
                                           "--fp4-recipe",
                                           "--te-rng-tracker",
                                           "--cuda-graph-impl",
                                           "--cuda-graph-scope"};

std::string place(const LaunchRequest& request, std::string_view name) {
  for (const GivenField& given : request.fields) {
    if (given.name == name) return where_text(given.where);
  }
  return {};
}

RC_GTEST_PROP(LaunchMegatron, AWrittenScriptIsReadBackAsTheSameRun, ()) {
  Run run = testing::random_run_of(framework_from("megatron").value());
  if (run.layout.recompute == Recompute::selective) {
    run.layout.recompute_pieces = static_cast<std::uint8_t>(
        *rc::gen::element<int>(bit(Piece::core), bit(Piece::norm) | bit(Piece::feed_forward),
                               bit(Piece::experts), bit(Piece::activation)));
  }
  run.layout.dispatch = static_cast<Dispatch>(*rc::gen::inRange(0, 2));
  run.layout.order =
      *rc::gen::element(std::array{Dimension::tp, Dimension::cp, Dimension::dp, Dimension::pp},
                        std::array{Dimension::tp, Dimension::cp, Dimension::pp, Dimension::dp});
  run.job.fused_loss = static_cast<Choice>(*rc::gen::inRange(0, 3));
  run.job.small_activation_inputs = *rc::gen::arbitrary<bool>();
  if (!is_legal(run)) run.job.small_activation_inputs = false;
  run.job.dropout = *rc::gen::element(-1.0, 0.0, 0.1);
  const auto files = launch_files(run, Launcher::megatron);
  RC_PRE(files.ok());
  const auto again = testing::read_back(run, *files, Launcher::megatron);
  if (!again) RC_FAIL(messages(again.problems()) + files->front().text);
  testing::expect_same_run(run, *again);
  // What names an option is documented.
  const auto arguments = launch::megatron_arguments(files->front().text, "train.sh");
  RC_ASSERT(arguments.ok());
  for (const launch::Argument& argument : arguments->arguments) {
    if (!argument.launcher && !kDocumented.contains(argument.name)) RC_FAIL(argument.name);
  }
}

// The kernel that stores them is that of SwiGLU.
TEST(LaunchMegatron, ActivationInputsIn8BitAreWrittenForSwigluAlone) {
  const auto written = [](const char* model) {
    const auto run = make_run({{"model", model},
                               {"cluster", "dgx-h100"},
                               {"gpus", "8"},
                               {"seq", "4096"},
                               {"global-batch", "8"},
                               {"small-activation-inputs", "true"}});
    EXPECT_TRUE(run.ok());
    return launch_files(*run, Launcher::megatron);
  };
  const auto llama = written("llama-3-8b");
  ASSERT_TRUE(llama.ok());
  EXPECT_NE(llama->front().text.find("--activation-func-fp8-input-store"), std::string::npos);
  const auto gemma = written("gemma-2b");
  ASSERT_FALSE(gemma.ok());
  EXPECT_NE(messages(gemma.problems()).find("other than SwiGLU"), std::string::npos);
}

TEST(LaunchMegatron, WhatItCannotExpressIsRefusedWithEveryReason) {
  headway::Run run;
  run.model = load_model("llama-2-7b").value();
  run.cluster = load_cluster("dgx-h100").value();
  run.job.sequence = 4096;
  run.job.global_batch = 64;
  run.layout.pp = 4;
  run.layout.schedule = Schedule::zero_bubble;
  run.layout.offload_parameters = true;
  run.job.optimizer = Optimizer::adafactor;
  run.job.attention = AttentionKernel::triton;
  run.job.padding_mask = true;
  const auto files = launch_files(run, Launcher::megatron);
  ASSERT_FALSE(files.ok());
  const std::string text = messages(files.problems());
  for (const char* part :
       {"--schedule: the schedule zero-bubble cannot be expressed in Megatron-LM core 0.15.0",
        "--offload: offloaded parameters", "--optimizer: adafactor", "--attention: the first flash",
        "--padding-mask: a padding mask"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(LaunchMegatron, OneFrameworksRunIsNotWrittenForAnother) {
  headway::Run run;
  run.job.framework = framework_from("fsdp").value();
  const auto files = launch_files(run, Launcher::megatron);
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(where_text(files.problems()[0]), "--framework");
}

TEST(LaunchMegatron, ReadsAScriptOfListsTextsAndVariables) {
  const auto request = read(R"(#!/bin/bash
GPUS_PER_NODE=8
TP=${TP:-4}
NNODES=$((1+3))   # nodes
MODEL=(
    --num-layers 32 --hidden-size 4096
    --num-attention-heads 32 # heads
    --seq-length=4096
)
TRAINING="--micro-batch-size 2 \
  --global-batch-size 256 --bf16"
torchrun --nproc_per_node $GPUS_PER_NODE --nnodes ${NNODES} pretrain_gpt.py \
    ${MODEL[@]} $TRAINING --tensor-model-parallel-size $TP \
    --sequence-parallel --use-distributed-optimizer --data-path "$1" \
    --tokenizer-type Llama2Tokenizer "$@"
)");
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  EXPECT_EQ(field(*request, "gpus"), "32");
  EXPECT_EQ(field(*request, "tp"), "4");
  EXPECT_EQ(field(*request, "seq"), "4096");
  EXPECT_EQ(field(*request, "global-batch"), "256");
  EXPECT_EQ(field(*request, "micro-batch"), "2");
  EXPECT_EQ(field(*request, "zero"), "1");
  EXPECT_EQ(field(*request, "precision"), "bf16");
  EXPECT_EQ(field(*request, "no-sp"), "(none)");
  EXPECT_EQ(field(*request, "dropout"), "0.1");  // the framework's own default
  EXPECT_EQ(place(*request, "seq"), "train.sh:8: --seq-length");
  EXPECT_EQ(place(*request, "global-batch"), "train.sh:11: --global-batch-size");
  EXPECT_EQ(place(*request, "tp"), "train.sh:13: --tensor-model-parallel-size");
}

TEST(LaunchMegatron, AnOptionWithItsValueInOneElementOfAListIsRead) {
  // The form of Megatron-LM's examples/llama/train_llama3_8b_h100_fp8.sh.
  const auto request = read(
      "DTYPE_ARGS=()\nif [[ \"$DTYPE\" == \"fp8\" ]]; then\n  DTYPE_ARGS+=(\n"
      "    \"--fp8-format hybrid\"\n    \"--fp8-amax-history-len 1024\"\n"
      "    \"--fp8-amax-compute-algo max\"\n    \"--fp8-param-gather\"\n  )\nfi\n"
      "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 32 --bf16 ${DTYPE_ARGS[@]}\n");
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  EXPECT_EQ(field(*request, "precision"), "fp8");
  EXPECT_EQ(place(*request, "precision"), "train.sh:4: --fp8-format");
}

TEST(LaunchMegatron, AnOptionWithABlankInItsNameIsRefused) {
  // The quoted list reaches the program as one word, which its parser does not know.
  const auto request = read(
      "A=(\"--fp8-format hybrid\")\npretrain_gpt.py --num-layers 32 --hidden-size 64 "
      "\"${A[@]}\"\n");
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(where_text(request.problems()[0]), "train.sh:2: --fp8-format hybrid");
  EXPECT_NE(request.problems()[0].message.find("one word"), std::string::npos);
}

TEST(LaunchMegatron, ReadsBareArgumentsAndBatchScripts) {
  const auto bare = read("--num-layers 24\n--hidden-size=1024\n--micro-batch-size 4\n");
  ASSERT_TRUE(bare.ok());
  EXPECT_EQ(field(*bare, "micro-batch"), "4");
  const auto batch = read(
      "#SBATCH -N 4\n#SBATCH --gres=gpu:h100:8\n"
      "srun bash -c \"python pretrain_gpt.py --num-layers 24 --micro-batch-size 4\"\n");
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(field(*batch, "gpus"), "32");
  EXPECT_EQ(field(*batch, "global-batch"), "128");  // one micro-batch on each of 32 ranks
}

TEST(LaunchMegatron, UnknownOptionsAreNamedAndDataOptionsAreNot) {
  const auto request =
      read("pretrain_gpt.py --num-layers 24 --my-own-option 3 --lr 1e-4 --data-path x --seed 3\n");
  ASSERT_TRUE(request.ok());
  ASSERT_EQ(request->notes.size(), 1u);
  EXPECT_EQ(request->notes[0], "left out, unknown to Headway: --my-own-option");
}

TEST(LaunchMegatron, AnotherKindOfStepIsRefusedAtItsLine) {
  const auto request = read("pretrain_gpt.py --num-layers 24 \\\n  --use-torch-fsdp2\n");
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(where_text(request.problems()[0]), "train.sh:2: --use-torch-fsdp2");
}

TEST(LaunchMegatron, PipelineLayoutsAreUnrolled) {
  using Counts = std::vector<std::int64_t>;
  EXPECT_EQ(launch::layers_of_layout("Et*3|(tt|)*2,t|L"), (Counts{3, 2, 2, 1, 0}));
  EXPECT_EQ(launch::layers_of_layout("Ettt|ttmL"), (Counts{3, 2}));
  for (const char* text : {"x", "t*", "t*999999999", "(t", "((((((((((((((((((((t", "t)"}) {
    EXPECT_EQ(launch::layers_of_layout(text), std::nullopt) << text;
  }
}

// Ends with chunks of their own each take the place of a layer: with fewer there were more chunks
// than what fills them.
TEST(LayoutText, OfEndsInChunksOfTheirOwnCountsBoth) {
  const auto layout = launch::spread_of({0, 1, 1, 1, 1, 0}, 4, 2);
  ASSERT_TRUE(layout.has_value());
  EXPECT_EQ(layout->embedding_slots, 1);
  EXPECT_EQ(layout->head_slots, 1);
}

TEST(LaunchMegatron, PatternsOfExpertsAreUnrolled) {
  EXPECT_EQ(launch::layer_pattern("([0]*2+[1]*3)", 5), (std::vector<int>{0, 0, 1, 1, 1}));
  EXPECT_EQ(launch::layer_pattern("([1]*1+[0,0])*2", 6), (std::vector<int>{1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(launch::layer_pattern("2", 4), (std::vector<int>{1, 0, 1, 0}));
  for (const char* text : {"[2]", "[1", "[1]*999999999999", "0", "", "((((((((((((((((((1"}) {
    EXPECT_EQ(launch::layer_pattern(text, 4), std::nullopt) << text;
  }
}

TEST(LaunchMegatron, WrongValuesAreReportedWhereTheyStand) {
  const auto request = read(
      "pretrain_gpt.py --num-layers twelve --hidden-size 64 --num-attention-heads 4 \\\n"
      " --seq-length 128 --global-batch-size 4 --vocab-size 100 \\\n"
      " --tensor-model-parallel-size $TP --micro-batch-size 1\n");
  ASSERT_TRUE(request.ok());
  RunRequest fields = request->fields;
  fields.push_back({"cluster", "dgx-h100"});
  const auto run = make_run(fields);
  ASSERT_FALSE(run.ok());
  const std::string text = messages(run.problems());
  EXPECT_NE(text.find("train.sh:1: layers: must be a whole number"), std::string::npos) << text;
  EXPECT_NE(text.find("train.sh:3: --tensor-model-parallel-size: '${TP}' is not a whole number"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace headway
