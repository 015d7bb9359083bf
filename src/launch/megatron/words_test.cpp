// What scripts say beside options: vocabulary, programs, launchers, words of other releases.
#include <gtest/gtest.h>

#include "launch/megatron/megatron.hpp"
#include "launch/megatron/read_for_test.hpp"
#include "launch/read_back_for_test.hpp"

namespace headway {
namespace {

using testing::field;
using testing::messages;

constexpr const char* kShape =
    "--num-layers 4 --hidden-size 256 --num-attention-heads 4 --seq-length 128 "
    "--max-position-embeddings 128 --micro-batch-size 1 --bf16 ";

Result<LaunchRequest> read_any(const std::string& text, const LaunchOpener& open = {}) {
  return read_launch(text, "train.sh", *launcher_of(text, "train.sh"), 0, open);
}

std::string field_of(const std::string& text, std::string_view name) {
  const auto request = read_any(text);
  return request ? field(*request, name) : messages(request.problems());
}

// Rows of the embedding of the run on one DGX; 0: it is missing.
std::int64_t vocabulary(const std::string& options, const RunRequest& more = {}) {
  auto request = read_any("torchrun --nproc-per-node 8 pretrain_gpt.py " + std::string(kShape) +
                          "--global-batch-size 8 " + options + "\n");
  if (!request) return -1;
  RunRequest fields = request->fields;
  fields.push_back({"cluster", "dgx-h100"});
  fields.insert(fields.end(), more.begin(), more.end());
  const auto run = make_run(fields);
  if (run) return run->model.vocabulary;
  return messages(run.problems()).find("vocabulary: is missing") != std::string::npos ? 0 : -2;
}

TEST(LaunchWords, TheVocabularyIsThatOfTheScriptOrOfItsTokenizer) {
  EXPECT_EQ(vocabulary("--vocab-file v.json --merge-file m.txt"), 50257);  // the default tokenizer
  EXPECT_EQ(vocabulary("--tokenizer-type GPT2BPETokenizer"), 50257);
  EXPECT_EQ(vocabulary("--tokenizer-type NullTokenizer --vocab-size 31999"), 32000);
  EXPECT_EQ(vocabulary("--tokenizer-type Llama2Tokenizer --tokenizer-model t.model"), 32000);
  EXPECT_EQ(vocabulary("--tokenizer-type HuggingFaceTokenizer --tokenizer-model "
                       "/models/Meta-Llama-3-8B"),
            128256);
  EXPECT_EQ(vocabulary("--tokenizer-type HuggingFaceTokenizer --tokenizer-model "
                       "deepseek-ai/DeepSeek-V3 --make-vocab-size-divisible-by 3232"),
            129280);
  EXPECT_EQ(vocabulary("--vocab-file v --pad-vocab-size-to 51200"), 51200);
  EXPECT_EQ(vocabulary("--vocab-file v --padded-vocab-size 51200"), 51200);
  EXPECT_EQ(vocabulary("--vocab-file v --make-vocab-size-divisible-by 1024"), 51200);
  EXPECT_EQ(vocabulary("--tokenizer-type GPTSentencePieceTokenizer --tokenizer-model "
                       "/models/tokenizer.model"),
            0);
}

TEST(LaunchWords, AGivenVocabularyTakesThePlaceOfTheScripts) {
  EXPECT_EQ(vocabulary("--tokenizer-type GPTSentencePieceTokenizer", {{"vocab", "64000"}}), 64000);
  EXPECT_EQ(vocabulary("--vocab-file v", {{"vocab", "64000"}}), 64000);
  EXPECT_EQ(vocabulary("--vocab-file v", {{"vocab", "0"}}), -2);
  const auto run = make_run({{"model", "llama-3.1-8b"},
                             {"cluster", "dgx-h100"},
                             {"gpus", "1"},
                             {"seq", "128"},
                             {"global-batch", "1"},
                             {"vocab", "1000"}});
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  EXPECT_EQ(run->model.vocabulary, 1000);
}

TEST(LaunchWords, TheProgramDecidesWhatTheOptionsDescribe) {
  for (const char* program :
       {"pretrain_bert.py", "pretrain_t5.py", "pretrain_retro.py", "pretrain_vlm.py",
        "examples/multimodal/train.py", "examples/mimo/train.py", "tasks/main.py",
        "tools/run_text_generation_server.py", "generate_samples_gpt.py", "pretrain_mamba.py",
        "examples/inference/gpt/gpt_dynamic_inference.py", "tools/preprocess_data.py"}) {
    const auto request = read_any("python " + std::string(program) + " " + kShape + "\n");
    EXPECT_FALSE(request.ok()) << program;
  }
  for (const char* program : {"pretrain_gpt.py", "pretrain_gpt2.py", "/a/b/pretrain_llama.py",
                              "examples/classes/pretrain_gpt.py"}) {
    const auto request = read_any("python " + std::string(program) + " " + kShape + "\n");
    EXPECT_TRUE(request.ok()) << program << messages(request.problems());
  }
}

TEST(LaunchWords, AnExtensionsNetworkIsNotMegatrons) {
  const auto request =
      read_any("python pretrain_gpt.py " + std::string(kShape) +
               "--spec mindspeed_llm.tasks.models.spec.deepseek_spec layer_spec\n");
  ASSERT_FALSE(request.ok());
  EXPECT_NE(messages(request.problems()).find("--spec: trains a network of MindSpeed-LLM, which"),
            std::string::npos);
}

TEST(LaunchWords, AcceleratorsAreTheLaunchersOrTheJobs) {
  const auto gpus = [](const std::string& start) {
    return field_of(start + " pretrain_gpt.py " + kShape + "\n", "gpus");
  };
  EXPECT_EQ(gpus("torchrun --nnodes 4 --nproc_per_node 8"), "32");
  EXPECT_EQ(gpus("deepspeed --num_nodes 2 --num_gpus 4"), "8");
  EXPECT_EQ(gpus("srun -N 3 --ntasks-per-node=4 python"), "12");
  EXPECT_EQ(gpus("mpirun -np 16 python"), "16");
  EXPECT_EQ(gpus("#SBATCH --nodes=48\n#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:8\n"
                 "N=$SLURM_NNODES\nsrun torchrun --nproc_per_node 8 --nnodes $N"),
            "384");
  EXPECT_EQ(gpus("#SBATCH -N 2\n#SBATCH --gpus-per-node 4\nsrun python"), "8");
  EXPECT_EQ(gpus("python"), "(none)");
  EXPECT_EQ(gpus("torchrun --nproc_per_node 8"), "8");  // its default: one node
  EXPECT_EQ(gpus("N=${NNODES:-1}\ntorchrun --nproc_per_node 8 --nnodes $N"), "8");
}

TEST(LaunchWords, AModuleIsAProgram) {
  const auto request = read_any(
      "torchrun --nproc_per_node 8 --master_port 1 --module "
      "pretrain_hybrid " +
      std::string(kShape) + "\n");
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(where_text(request.problems()[0]), "train.sh:1: pretrain_hybrid.py");
}

// One node is nothing that such a script says: --gpus says how many there are.
TEST(LaunchWords, NodesThatOnlyTheShellKnowsAreNotOneNode) {
  for (const char* start :
       {"NNODES=$3\ntorchrun --nproc_per_node 8 --nnodes $NNODES",
        "torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES",
        "deepspeed --num_nodes $NODES --num_gpus 8", "deepspeed --hostfile hosts --num_gpus 8"}) {
    EXPECT_EQ(field_of(std::string(start) + " pretrain_gpt.py " + kShape + "\n", "gpus"), "(none)")
        << start;
    const auto given = read_launch(std::string(start) + " pretrain_gpt.py " + kShape + "\n",
                                   "train.sh", Launcher::megatron, 64);
    ASSERT_TRUE(given.ok()) << messages(given.problems());
    EXPECT_EQ(field(*given, "gpus"), "64") << start;
  }
}

TEST(LaunchWords, WordsOfEarlyReleasesMeanTodays) {
  const std::string script =
      "torchrun --nproc_per_node 8 pretrain_gpt2.py --num-layers 4 --hidden-size 256 "
      "--num-attention-heads 4 --seq-length 128 --max-position-embeddings 128 --fp16 "
      "--model-parallel-size 2 --batch-size 6\n";
  EXPECT_EQ(field_of(script, "tp"), "2");
  EXPECT_EQ(field_of(script, "micro-batch"), "6");
  EXPECT_EQ(field_of(script, "global-batch"), "24");  // 6 on each of 4 ranks
}

TEST(LaunchWords, ABranchOfMegatronsWithWordsOfItsOwnIsRead) {
  const std::string script =
      "deepspeed --num_gpus 8 pretrain_gpt.py " + std::string(kShape) +
      "--global-batch-size 8 --vocab-file v --deepspeed --zero-stage 1 --embed-layernorm "
      "--pipeline-model-parallel-size 2 --position-embedding-type alibi --glu-activation geglu "
      "--pp-partition-method 'type:transformer|embedding'\n";
  EXPECT_EQ(field_of(script, "embedding-slots"), "1");
  EXPECT_EQ(field_of(script, "head-slots"), "1");
  auto request = read_any(script);
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  RunRequest fields = request->fields;
  fields.push_back({"cluster", "dgx-h100"});
  fields.push_back({"embedding-slots", "0"});
  fields.push_back({"head-slots", "0"});
  const auto run = make_run(fields);
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  EXPECT_TRUE(run->model.embedding_norm);
  EXPECT_EQ(run->model.learned_positions, 0);
  EXPECT_TRUE(run->model.kinds[0].feed_forward->gated);
  EXPECT_EQ(run->model.kinds[0].feed_forward->activation, Activation::gelu);
  EXPECT_EQ(run->model.kinds[0].feed_forward->width, 1024);
}

TEST(LaunchWords, FullPrecisionHasNoFusedAttention) {
  EXPECT_EQ(field_of("python pretrain_gpt.py --num-layers 2 --hidden-size 64\n", "attention"),
            "unfused");
  EXPECT_EQ(
      field_of("python pretrain_gpt.py --num-layers 2 --hidden-size 64 --bf16\n", "attention"),
      "(none)");
}

TEST(LaunchWords, ReleasesBeforeFlashAttentionKeepTheirScores) {
  const std::string script = "torchrun --nproc_per_node 8 pretrain_gpt.py " + std::string(kShape);
  EXPECT_EQ(field_of(script + "--checkpoint-activations\n", "attention"), "unfused");
  EXPECT_EQ(field_of(script + "--activations-checkpoint-method uniform\n", "attention"), "unfused");
  EXPECT_EQ(
      field_of(script + "--recompute-granularity full --recompute-method uniform\n", "attention"),
      "(none)");
}

// DotProductAttention of megatron/core, and of releases before it unless --use-flash-attn is given.
TEST(LaunchWords, MegatronsOwnLayersKeepTheirScores) {
  const std::string script = "torchrun --nproc_per_node 8 pretrain_gpt.py " + std::string(kShape);
  EXPECT_EQ(field_of(script + "--transformer-impl local\n", "attention"), "unfused");
  EXPECT_EQ(field_of(script + "--transformer-impl local --attention-backend fused\n", "attention"),
            "unfused");
  EXPECT_EQ(field_of(script + "--transformer-impl local --use-flash-attn\n", "attention"),
            "flash2");
  EXPECT_EQ(field_of(script + "--transformer-impl transformer_engine\n", "attention"), "(none)");
}

TEST(LaunchWords, Bf16WithoutZeroShardsItsOptimizerInDeepspeed) {
  const std::string script = "deepspeed --num_gpus 8 pretrain_gpt.py " + std::string(kShape) +
                             "--global-batch-size 8 --vocab-file v --deepspeed --zero-stage 0\n";
  EXPECT_EQ(field_of(script, "zero"), "1");
  std::string half = script;
  half.replace(half.find("--bf16"), 6, "--fp16");
  EXPECT_EQ(field_of(half, "zero"), "0");
}

TEST(LaunchWords, AConfigurationMadeOfATemplateIsReadWithItsWordsReplaced) {
  const std::string script =
      "MB=2\nsed \"s/CONFIG_MB/${MB}/\" ds_TEMPLATE.json | sed 's/STAGE/2/' > ds.json\n"
      "deepspeed --num_gpus 8 pretrain_gpt.py --num-layers 4 --hidden-size 256 "
      "--num-attention-heads 4 --seq-length 128 --max-position-embeddings 128 --fp16 "
      "--micro-batch-size 2 --global-batch-size 16 --vocab-file v --deepspeed "
      "--deepspeed_config ds.json\n";
  const auto request = read_any(script, [](const std::string& name) -> std::optional<std::string> {
    if (name != "ds_TEMPLATE.json") return std::nullopt;
    return "{\"train_micro_batch_size_per_gpu\": CONFIG_MB, \"fp16\": {\"enabled\": true},"
           "\"zero_optimization\": {\"stage\": STAGE}}";
  });
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  EXPECT_EQ(field(*request, "zero"), "2");
  EXPECT_FALSE(read_any(script).ok());  // nothing says the stage
}

// A run on one DGX, written for a launcher; or why it is not.
std::string written(RunRequest more, Launcher launcher, const std::string& cluster = "dgx-h100") {
  RunRequest fields = {{"model", "llama-3.1-8b"},
                       {"cluster", cluster},
                       {"gpus", "8"},
                       {"seq", "4096"},
                       {"global-batch", "64"}};
  fields.insert(fields.end(), more.begin(), more.end());
  const auto run = make_run(fields);
  if (!run) return messages(run.problems());
  const auto files = launch_files(*run, launcher);
  return files ? launch_text(*files) : messages(files.problems());
}

TEST(LaunchWords, WhatOnlySomeReleasesOrAcceleratorsKnowIsSaidOrRefused) {
  EXPECT_NE(written({{"optimizer", "muon"}, {"zero", "0"}}, Launcher::megatron)
                .find("Muon needs Megatron-LM core 0.16"),
            std::string::npos);
  const RunRequest blocks = {{"precision", "mxfp8"}};
  EXPECT_NE(written(blocks, Launcher::megatron).find("mxfp8 has scales of blocks that"),
            std::string::npos);
  EXPECT_NE(written(blocks, Launcher::megatron, "dgx-b200").find("--fp8-recipe mxfp8"),
            std::string::npos);
  EXPECT_NE(written({{"framework", "nanotron"}, {"attention", "flash2"}}, Launcher::nanotron)
                .find("nanotron at commit 19f88fb"),
            std::string::npos);
}

TEST(LaunchWords, ACommandOfDeepspeedHasItsOptionsForOffloadAndExperts) {
  const std::string offloads = written({{"framework", "deepspeed"},
                                        {"attention", "flash2"},
                                        {"zero", "2"},
                                        {"offload", "optimizer"},
                                        {"no-sp", "true"}},
                                       Launcher::deepspeed);
  EXPECT_NE(offloads.find("--cpu-optimizer"), std::string::npos) << offloads;
  const std::string experts = written({{"model", "qwen3-30b-a3b"},
                                       {"framework", "deepspeed"},
                                       {"attention", "flash2"},
                                       {"zero", "1"},
                                       {"ep", "8"}},
                                      Launcher::deepspeed);
  EXPECT_NE(experts.find("--create-moe-param-group"), std::string::npos) << experts;
  EXPECT_NE(experts.find("--num-experts 128"), std::string::npos) << experts;
}

}  // namespace
}  // namespace headway
