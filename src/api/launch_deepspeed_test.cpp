#include <gtest/gtest.h>

#include <set>

#include "api/launch_for_test.hpp"

namespace headway {
namespace {

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

std::string field(const LaunchRequest& request, std::string_view name) {
  for (const GivenField& given : request.fields) {
    if (given.name == name) return given.text;
  }
  return "(none)";
}

// What the configuration does not carry: network, degrees, sequence, kernels, recomputation.
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
  add("attention", std::string(kAttentionKernelNames[static_cast<int>(run.job.attention)]));
  add("recompute", std::string(kRecomputeNames[static_cast<int>(l.recompute)]));
  if (!l.sequence_parallel) add("no-sp", "true");
  if (!run.job.fused) add("unfused", "true");
  return out;
}

RC_GTEST_PROP(LaunchDeepspeed, AWrittenConfigurationIsReadBackAsTheSameRun, ()) {
  headway::Run run = testing::random_run_of(Framework::deepspeed);
  Layout& l = run.layout;
  l.vpp = 1;
  l.embedding_slots = l.head_slots = 0;
  l.recompute_every = 1;
  if (l.recompute == Recompute::selective) l.recompute = Recompute::none;
  if (l.cp > 1) l.context_exchange = ContextExchange::all_to_all;
  l.overlap_parameters = l.overlap_tensor = Choice::framework;
  l.reshard_after_forward = true;
  l.offload_optimizer = l.zero > 0 && *rc::gen::arbitrary<bool>();
  l.offload_parameters = l.zero == 3 && *rc::gen::arbitrary<bool>();
  l.offload_activations = l.recompute == Recompute::full && *rc::gen::arbitrary<bool>();
  RC_PRE(check(run.model, run.job, l, run.cluster).empty());
  const auto files = launch_files(run, Launcher::deepspeed);
  RC_PRE(files.ok());
  const auto again = testing::read_back(run, *files, Launcher::deepspeed, beside(run));
  if (!again) RC_FAIL(messages(again.problems()) + files->front().text);
  testing::expect_same_run(run, *again);
  std::set<std::string> names;
  collect(parse_json(files->front().text, "c")->root, "", names);
  for (const std::string& name : names) {
    if (!kDocumented.contains(name)) RC_FAIL(name);
  }
  // The command carries the degrees.
  const std::string& command = files->at(1).text;
  RC_ASSERT(command.find("--tensor-model-parallel-size " + std::to_string(l.tp)) !=
            std::string::npos);
}

TEST(LaunchDeepspeed, WhatItCannotExpressIsRefusedWithEveryReason) {
  headway::Run run;
  run.model = load_model("llama-2-7b").value();
  run.cluster = load_cluster("dgx-h100").value();
  run.job.framework = Framework::deepspeed;
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

TEST(LaunchDeepspeed, WhatCannotBePricedIsRefusedAtItsLine) {
  const auto request = read_launch(
      "{\"zero_optimization\": {\"stage\": 3,\n \"offload_param\": {\n\"device\": \"nvme\"}}}",
      "c.json", Launcher::deepspeed);
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(request.problems()[0].where, "c.json:3: zero_optimization.offload_param.device");
}

}  // namespace
}  // namespace headway
