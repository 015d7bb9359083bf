#include <gtest/gtest.h>

#include <set>

#include "launch/read_back_for_test.hpp"

namespace headway {
namespace {

using testing::field;
using testing::messages;

// Options of DeepSpeed 0.17, from its documentation and configuration classes
// (deepspeed/runtime/config.py, zero/config.py, activation_checkpointing/config.py).
const std::set<std::string> kDocumented = {
    "train_batch_size",
    "train_micro_batch_size_per_gpu",
    "gradient_accumulation_steps",
    "steps_per_print",
    "gradient_clipping",
    "optimizer.type",
    "optimizer.params.lr",
    "optimizer.params.betas",
    "optimizer.params.eps",
    "optimizer.params.weight_decay",
    "bf16.enabled",
    "fp16.enabled",
    "fp16.loss_scale",
    "zero_optimization.stage",
    "zero_optimization.contiguous_gradients",
    "zero_optimization.reduce_scatter",
    "zero_optimization.reduce_bucket_size",
    "zero_optimization.allgather_partitions",
    "zero_optimization.allgather_bucket_size",
    "zero_optimization.overlap_comm",
    "zero_optimization.mics_shard_size",
    "zero_optimization.zero_hpz_partition_size",
    "zero_optimization.zero_quantized_weights",
    "zero_optimization.zero_quantized_gradients",
    "zero_optimization.offload_optimizer.device",
    "zero_optimization.offload_optimizer.pin_memory",
    "zero_optimization.offload_param.device",
    "zero_optimization.offload_param.pin_memory",
    "activation_checkpointing.partition_activations",
    "activation_checkpointing.cpu_checkpointing",
    "activation_checkpointing.contiguous_memory_optimization",
    "activation_checkpointing.number_checkpoints",
    "activation_checkpointing.synchronize_checkpoint_boundary",
    "wall_clock_breakdown"};

void collect(const Node& node, const std::string& path, std::set<std::string>& out) {
  for (const auto& [key, member] : *node.table()) {
    const std::string name = path.empty() ? key : path + "." + key;
    if (member.table() != nullptr) {
      collect(member, name, out);
    } else {
      out.insert(name);
    }
  }
}

// What the configuration alone does not carry: network, degrees, sequence, kernels, dropout.
RunRequest beside(const headway::Run& run) {
  const Layout& l = run.layout;
  RunRequest out;
  const auto add = [&](const char* name, const std::string& text) {
    out.push_back({name, text, std::string("--") + name});
  };
  add("model", run.model.name);
  add("gpus", std::to_string(l.ranks()));
  add("seq", std::to_string(run.job.sequence));
  add("tp", std::to_string(l.tp));
  add("cp", std::to_string(l.cp));
  add("cp-exchange", "all-to-all");
  add("pp", std::to_string(l.pp));
  add("ep", std::to_string(l.ep));
  add("etp", std::to_string(l.etp));
  add("attention", std::string(kAttentionKernelNames[static_cast<int>(run.job.attention)]));
  add("recompute-every", std::to_string(l.recompute_every));
  add("dropout", launch::number(run.job.dropout >= 0 ? run.job.dropout : run.model.dropout));
  if (!l.sequence_parallel) add("no-sp", "true");
  if (!run.job.fused) add("unfused", "true");
  if (run.job.checked_collectives) add("checked-collectives", "true");
  if (run.job.task == Task::finetune) add("task", "finetune");
  return out;
}

// Every field that DeepSpeed's files can say, each drawn.
headway::Run any_run() {
  headway::Run run = testing::random_run_of(framework_from("deepspeed").value());
  Layout& l = run.layout;
  Job& job = run.job;
  l.vpp = 1;
  l.embedding_slots = l.head_slots = 0;
  if (l.recompute == Recompute::selective) l.recompute = Recompute::full;
  l.recompute_every = l.recompute == Recompute::full ? *rc::gen::inRange(1, 4) : 1;
  if (l.cp > 1) l.context_exchange = ContextExchange::all_to_all;
  l.overlap_parameters = l.overlap_tensor = Choice::framework;
  l.reshard_after_forward = true;
  if (has_experts(run.model) && *rc::gen::arbitrary<bool>()) l.etp = l.tp;
  const std::int64_t replicas = l.dp * l.cp;
  if (l.zero == 3 && replicas > 1 && *rc::gen::arbitrary<bool>()) l.shard = replicas / 2;
  l.offload_optimizer = l.zero > 0 && *rc::gen::arbitrary<bool>();
  l.offload_parameters = l.zero == 3 && *rc::gen::arbitrary<bool>();
  l.offload_activations = l.recompute == Recompute::full && *rc::gen::arbitrary<bool>();
  job.attention = *rc::gen::element(AttentionKernel::unfused, AttentionKernel::flash1,
                                    AttentionKernel::flash2, AttentionKernel::triton);
  job.optimizer = *rc::gen::element(Optimizer::adam, Optimizer::adamw);
  job.task = *rc::gen::element(Task::pretrain, Task::finetune);
  job.dropout = *rc::gen::element(-1.0, 0.0, 0.1);
  job.checked_collectives = *rc::gen::arbitrary<bool>();
  if (job.recipe->name == "bf16") {
    job.recipe = recipe_from(*rc::gen::element<std::string>("bf16", "fp16", "fp32"));
  }
  return run;
}

void expect_same_job(const headway::Run& run, const headway::Run& again) {
  RC_ASSERT(run.job.optimizer == again.job.optimizer);
  RC_ASSERT(run.job.task == again.job.task);
  RC_ASSERT(run.job.fused == again.job.fused);
  RC_ASSERT(run.job.checked_collectives == again.job.checked_collectives);
  const auto dropout = [](const headway::Run& one) {
    return one.job.dropout >= 0 ? one.job.dropout : one.model.dropout;
  };
  RC_ASSERT(dropout(run) == dropout(again));
}

RC_GTEST_PROP(LaunchDeepspeed, AWrittenConfigurationIsReadBackAsTheSameRun, ()) {
  const headway::Run run = any_run();
  RC_PRE(check(run).empty());
  const auto files = launch_files(run, Launcher::deepspeed);
  RC_PRE(files.ok());
  const auto again = testing::read_back(run, *files, Launcher::deepspeed, beside(run));
  if (!again) RC_FAIL(messages(again.problems()) + files->front().text);
  testing::expect_same_run(run, *again);
  expect_same_job(run, *again);
  std::set<std::string> names;
  collect(parse_json(files->front().text, "c")->root, "", names);
  for (const std::string& name : names) {
    if (!kDocumented.contains(name)) RC_FAIL(name);
  }
}

// Where Megatron-DeepSpeed has no words for the network, --model names it.
RC_GTEST_PROP(LaunchDeepspeed, TheCommandBesideAConfigurationIsReadBackAsTheSameRun, ()) {
  const headway::Run run = any_run();
  RC_PRE(check(run).empty());
  const auto files = launch_files(run, Launcher::deepspeed);
  RC_PRE(files.ok());
  // Both files as --emit prints them, or the script with its configuration beside it.
  const bool together = *rc::gen::arbitrary<bool>();
  const std::string text = together ? launch_text(*files) : files->at(1).text;
  RC_ASSERT(launcher_of(text, "train.sh") == Launcher::deepspeed);
  const auto request = read_launch(text, "train.sh", Launcher::deepspeed, 0,
                                   [&](const std::string& name) -> std::optional<std::string> {
                                     return !together && name == "ds_config.json"
                                                ? std::optional(files->at(0).text)
                                                : std::nullopt;
                                   });
  if (!request) RC_FAIL(messages(request.problems()) + text);
  RC_ASSERT(request->notes.empty());
  RunRequest fields = request->fields;
  fields.push_back({"cluster", run.cluster.name});
  const bool network = field(*request, "model") != "(none)";
  RC_TAG(network);
  const bool short_table =
      run.model.learned_positions > 0 && run.model.learned_positions < run.job.sequence;
  RC_ASSERT(network || short_table || has_experts(run.model) ||
            run.model.name == "gpt-neox-1.3b");  // attention beside the feed-forward part
  if (!network) fields.push_back({"model", run.model.name});
  const auto again = make_run(fields);
  if (!again) RC_FAIL(messages(again.problems()) + text);
  testing::expect_same_run(run, *again);
  expect_same_job(run, *again);
}

TEST(LaunchDeepspeed, WhatItCannotExpressIsRefusedWithEveryReason) {
  headway::Run run;
  run.model = load_model("llama-2-7b").value();
  run.cluster = load_cluster("dgx-h100").value();
  run.job.framework = framework_from("deepspeed").value();
  run.job.sequence = 4096;
  run.job.global_batch = 64;
  run.job.recipe = recipe_from("fp8");
  run.layout.pp = 2;
  run.layout.vpp = 2;
  run.layout.cp = 2;
  const auto files = launch_files(run, Launcher::deepspeed);
  ASSERT_FALSE(files.ok());
  const std::string text = messages(files.problems());
  for (const char* part : {"--precision: fp8 cannot be expressed in DeepSpeed 0.17", "--vpp",
                           "--cp-exchange: a ring"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

// It would be trained as with ZeRO 1, and be read back so.
TEST(LaunchDeepspeed, WithoutZeroBf16IsNotWritten) {
  const auto problems_with = [](const char* precision) {
    const auto run = make_run({{"model", "llama-2-7b"},
                               {"cluster", "dgx-h100"},
                               {"gpus", "8"},
                               {"tp", "8"},
                               {"seq", "4096"},
                               {"global-batch", "64"},
                               {"framework", "deepspeed"},
                               {"zero", "0"},
                               {"precision", precision}});
    const auto files = launch_files(run.value(), Launcher::deepspeed);
    return files ? Problems() : files.problems();
  };
  const Problems problems = problems_with("bf16");
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(where_text(problems[0]), "--zero");
  EXPECT_NE(problems[0].message.find("legal: 1, 2, 3"), std::string::npos) << problems[0].message;
  EXPECT_TRUE(problems_with("fp16").empty());
}

TEST(LaunchDeepspeed, WhatAnotherProgramFillsInIsLeftToFlags) {
  const std::string text = R"({"train_batch_size": "auto", "bf16": {"enabled": "auto"},
    "train_micro_batch_size_per_gpu": 4, "optimizer": {"type": "AdamW"},
    "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"},
      "stage3_prefetch_bucket_size": "auto"}})";
  EXPECT_EQ(launcher_of(text, "c.json"), Launcher::deepspeed);
  EXPECT_EQ(launcher_of("{\"model\": \"llama-2-7b\"}", "c.json"), std::nullopt);
  const auto request = read_launch(text, "c.json", Launcher::deepspeed);
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(field(*request, "global-batch"), "(none)");
  EXPECT_EQ(field(*request, "precision"), "(none)");
  EXPECT_EQ(field(*request, "micro-batch"), "4");
  EXPECT_EQ(field(*request, "zero"), "3");
  EXPECT_EQ(field(*request, "offload"), "optimizer");
  EXPECT_EQ(field(*request, "overlap-gradients"), "on");  // the default of stage 3
}

TEST(LaunchDeepspeed, AScriptThatWritesItsConfigurationIsReadWithIt) {
  const auto request = read_launch(
      "ZERO=2\nMB=2\ncat <<EOT > ds.json\n{\"train_batch_size\": 64,\n"
      " \"train_micro_batch_size_per_gpu\": $MB, \"bf16\": {\"enabled\": true},\n"
      " \"zero_optimization\": {\"stage\": $ZERO, \"offload_optimizer\": {\"device\": \"cpu\"}}}\n"
      "EOT\ndeepspeed --num_nodes 2 --num_gpus 8 pretrain_gpt.py --deepspeed \\\n"
      " --deepspeed_config ds.json --zero-stage $ZERO --num-layers 24 --hidden-size 2048 \\\n"
      " --num-attention-heads 16 --num-key-value-heads 4 --seq-length 2048 --vocab-size 50257 \\\n"
      " --max-position-embeddings 2048 --micro-batch-size $MB --global-batch-size 64 --bf16 \\\n"
      " --ds-sequence-parallel-size 2 --checkpoint-activations --checkpoint-in-cpu \\\n"
      " --num-experts 8 --moe-expert-parallel-size 4 --use-flash-attn-v2\n",
      "train.sh", Launcher::deepspeed);
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  EXPECT_EQ(field(*request, "framework"), "deepspeed");
  EXPECT_EQ(field(*request, "gpus"), "16");
  EXPECT_EQ(field(*request, "zero"), "2");
  EXPECT_EQ(field(*request, "cp"), "2");
  EXPECT_EQ(field(*request, "cp-exchange"), "all-to-all");
  EXPECT_EQ(field(*request, "recompute"), "full");
  EXPECT_EQ(field(*request, "ep"), "4");
  RunRequest fields = request->fields;
  fields.push_back({"cluster", "dgx-h100"});
  const auto run = make_run(fields);
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  EXPECT_TRUE(run->layout.offload_optimizer);
  EXPECT_TRUE(run->layout.offload_activations);
  EXPECT_EQ(run->model.kinds[0].attention->kv_heads, 4);
  // Experts in every second layer, the second first (--expert-interval 2).
  EXPECT_FALSE(run->model.kinds[run->model.pattern[0]].experts.has_value());
  ASSERT_TRUE(run->model.kinds[run->model.pattern[1]].experts.has_value());
  EXPECT_EQ(run->model.kinds[run->model.pattern[1]].experts->active, 1);  // --topk
}

TEST(LaunchDeepspeed, ScriptAndConfigurationMustSayTheSame) {
  const std::string script =
      "deepspeed --num_gpus 8 pretrain_gpt.py --deepspeed --deepspeed_config c.json \\\n"
      " --zero-stage 1 --micro-batch-size 2 --num-layers 24 --hidden-size 1024\n";
  const auto request =
      read_launch(script, "train.sh", Launcher::deepspeed, 0, [](const std::string&) {
        return std::optional<std::string>(
            "{\"train_micro_batch_size_per_gpu\": 4,\n\"zero_optimization\": {\"stage\": 2}}");
      });
  ASSERT_FALSE(request.ok());
  const std::string text = messages(request.problems());
  for (const char* part :
       {"c.json:1: train_micro_batch_size_per_gpu: is 4, and 2 at train.sh:2: --micro-batch-size",
        "c.json:2: zero_optimization.stage: is 2, and 1 at train.sh:2: --zero-stage"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(LaunchDeepspeed, AConfigurationThatIsNotThereIsMissedUnlessTheScriptSaysTheStage) {
  const std::string script =
      "deepspeed --num_gpus 8 pretrain_gpt.py --num-layers 2 --deepspeed --deepspeed_config c.json";
  const auto missing = read_launch(script, "train.sh", Launcher::deepspeed);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(where_text(missing.problems()[0]), "train.sh:1: --deepspeed-config");
  const auto stated = read_launch(script + " --zero-stage 3", "train.sh", Launcher::deepspeed);
  ASSERT_TRUE(stated.ok()) << messages(stated.problems());
  EXPECT_EQ(field(*stated, "zero"), "3");
  ASSERT_EQ(stated->notes.size(), 1u);
  EXPECT_NE(stated->notes[0].find("'c.json' is neither written by the script nor beside it"),
            std::string::npos);
}

TEST(LaunchDeepspeed, AccumulationGivesTheBatchThatIsNotStated) {
  const auto request =
      read_launch("{\"train_micro_batch_size_per_gpu\": 2, \"gradient_accumulation_steps\": 3}",
                  "c.json", Launcher::deepspeed);
  ASSERT_TRUE(request.ok());
  RunRequest fields = request->fields;
  fields.push_back({"gpus", "16"});
  fields.push_back({"tp", "2"});
  settle_batch(request->micro_batches, fields);
  EXPECT_EQ(fields.back().name, "global-batch");
  EXPECT_EQ(fields.back().text, "48");  // 2 x 3 on each of 8 replicas
}

// [STEP-18] Elements of a bucket; DeepSpeed's own default, and what another program fills in, is
// its habit.
TEST(LaunchDeepspeed, ABucketsElementsAreReadAsWhatIsSent) {
  const auto bucket = [](const std::string& size, const char* stage = "3") {
    const auto request =
        read_launch(R"({"train_batch_size": 8, "bf16": {"enabled": true}, "zero_optimization": )"
                    R"({"stage": )" +
                        std::string(stage) + R"(, "reduce_bucket_size": )" + size + "}}",
                    "c.json", Launcher::deepspeed);
    return request.ok() ? field(*request, "bucket-size") : messages(request.problems());
  };
  EXPECT_EQ(bucket("2e8"), "400 MB");
  EXPECT_EQ(bucket("200000000", "1"), "400 MB");
  EXPECT_EQ(bucket("5e8"), "(none)");
  EXPECT_EQ(bucket("\"auto\""), "(none)");
  EXPECT_EQ(bucket("1e8", "0"), "200 MB");  // bf16 without ZeRO is priced as ZeRO 1
  EXPECT_NE(bucket("-1").find("zero_optimization.reduce_bucket_size: must be"), std::string::npos);
}

TEST(LaunchDeepspeed, ZeroPlusPlusIsRead) {  // [STEP-27]
  const auto request = read_launch(
      R"({"train_batch_size": 8, "zero_optimization": {"stage": 3, "zero_quantized_weights": true,
 "zero_hpz_partition_size": 8, "zero_quantized_gradients": true}})",
      "c.json", Launcher::deepspeed);
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  EXPECT_EQ(field(*request, "quantized-weights"), "true");
  EXPECT_EQ(field(*request, "quantized-gradients"), "true");
  EXPECT_EQ(field(*request, "secondary-shard"), "8");
  EXPECT_TRUE(request->notes.empty());
}

TEST(LaunchDeepspeed, WhatChangesTheStepIsRefusedUnlessItIsHarmless) {
  const auto request = read_launch(
      R"({"train_batch_size": 8, "zero_optimization": {"stage": 3,
 "mics_hierarchical_params_gather": true, "brand_new": 1,
 "reduce_bucket_size": 2e8, "offload_optimizer": {"device": "cpu", "ratio": 0.5}},
 "tensor_parallel": {"autotp_size": 4}, "compression_training": {"x": {"enabled": true}}})",
      "c.json", Launcher::deepspeed);
  ASSERT_FALSE(request.ok());
  const std::string text = messages(request.problems());
  for (const char* part : {"c.json:2: zero_optimization.mics_hierarchical_params_gather: gathers "
                           "weights in two levels, "
                           "which Headway cannot price; legal: false",
                           "zero_optimization.brand_new: changes ZeRO",
                           "zero_optimization.offload_optimizer.ratio: offloads a part",
                           "tensor_parallel.autotp_size: splits layers",
                           "compression_training.x.enabled: compresses the network"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  const auto harmless = read_launch(
      R"({"train_batch_size": 8, "zero_optimization": {"stage": 3, "reduce_bucket_size": 2e8,
 "zero_quantized_weights": false, "zero_hpz_partition_size": 1}, "steps_per_print": 3,
 "activation_checkpointing": {"partition_activations": true}})",
      "c.json", Launcher::deepspeed);
  ASSERT_TRUE(harmless.ok()) << messages(harmless.problems());
  EXPECT_EQ(field(*harmless, "recompute"), "full");
  ASSERT_EQ(harmless->notes.size(), 1u);
  EXPECT_EQ(field(*harmless, "bucket-size"), "800 MB");  // of fp32, as no format is stated
  ASSERT_EQ(harmless->with_tensor_parallelism.size(), 1u);
}

TEST(LaunchDeepspeed, WhatCannotBePricedIsRefusedAtItsLine) {
  const auto request = read_launch(
      "{\"zero_optimization\": {\"stage\": 3,\n \"offload_param\": {\n\"device\": \"nvme\"}}}",
      "c.json", Launcher::deepspeed);
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(where_text(request.problems()[0]), "c.json:3: zero_optimization.offload_param.device");
}

}  // namespace
}  // namespace headway
