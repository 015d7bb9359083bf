#include <gtest/gtest.h>

#include <set>

#include "launch/read_back_for_test.hpp"

namespace headway {
namespace {

using testing::field;
using testing::messages;

// Options of torchtitan 0.2.2, from its configuration classes (torchtitan/config/job_config.py).
const std::set<std::string> kDocumented = {"job.dump_folder",
                                           "job.description",
                                           "metrics.log_freq",
                                           "model.name",
                                           "model.flavor",
                                           "model.hf_assets_path",
                                           "model.converters",
                                           "optimizer.name",
                                           "optimizer.lr",
                                           "optimizer.eps",
                                           "optimizer.implementation",
                                           "lr_scheduler.warmup_steps",
                                           "training.dataset",
                                           "training.local_batch_size",
                                           "training.global_batch_size",
                                           "training.seq_len",
                                           "training.max_norm",
                                           "training.steps",
                                           "training.enable_cpu_offload",
                                           "training.dtype",
                                           "training.mixed_precision_param",
                                           "training.mixed_precision_reduce",
                                           "parallelism.data_parallel_replicate_degree",
                                           "parallelism.data_parallel_shard_degree",
                                           "parallelism.fsdp_reshard_after_forward",
                                           "parallelism.tensor_parallel_degree",
                                           "parallelism.disable_loss_parallel",
                                           "parallelism.enable_async_tensor_parallel",
                                           "parallelism.pipeline_parallel_degree",
                                           "parallelism.module_fqns_per_model_part",
                                           "parallelism.pipeline_parallel_first_stage_less_layers",
                                           "parallelism.pipeline_parallel_last_stage_less_layers",
                                           "parallelism.pipeline_parallel_layers_per_stage",
                                           "parallelism.pipeline_parallel_schedule",
                                           "parallelism.pipeline_parallel_microbatch_size",
                                           "parallelism.context_parallel_degree",
                                           "parallelism.context_parallel_rotate_method",
                                           "parallelism.expert_parallel_degree",
                                           "parallelism.expert_tensor_parallel_degree",
                                           "parallelism.expert_parallel_comm_backend",
                                           "activation_checkpoint.mode",
                                           "activation_checkpoint.selective_ac_option",
                                           "activation_checkpoint.early_stop",
                                           "compile.enable",
                                           "compile.components",
                                           "quantize.linear.float8.recipe_name",
                                           "quantize.linear.float8.filter_fqns",
                                           "quantize.linear.mx.recipe_name",
                                           "quantize.linear.mx.filter_fqns"};

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

RC_GTEST_PROP(LaunchTorchtitan, AWrittenConfigurationIsReadBackAsTheSameRun, ()) {
  headway::Run run = testing::random_run_of(framework_from("fsdp").value());
  run.model = load_model(*rc::gen::element<std::string>("llama-3.1-8b", "llama-3.1-70b",
                                                        "qwen3-30b-a3b", "deepseek-v3"))
                  .value();
  if (run.model.name == "deepseek-v3") run.model.prediction_layers = 0;
  run.job.attention = AttentionKernel::flash2;
  Layout& l = run.layout;
  l.zero = *rc::gen::element(0, 2, 3, 3);
  l.reshard_after_forward = true;  // kept weights are read back as ZeRO 2, their other name
  l.ep = run.model.kinds.back().experts ? *rc::gen::element<std::int64_t>(1, 2) : 1;
  l.etp = 1;
  l.sequence_parallel = true;
  l.overlap_gradients = l.overlap_parameters = l.overlap_tensor = Choice::framework;
  if (l.recompute == Recompute::selective) l.recompute = Recompute::none;
  l.recompute_every = 1;
  l.schedule = l.pp == 1   ? Schedule::one_f_one_b
               : l.vpp > 1 ? *rc::gen::element(Schedule::one_f_one_b, Schedule::breadth_first)
                           : *rc::gen::element(Schedule::one_f_one_b, Schedule::gpipe,
                                               Schedule::zero_bubble_v, Schedule::dual_pipe_v);
  l.shard = *rc::gen::element<std::int64_t>(0, 0, l.cp * std::max<std::int64_t>(1, l.dp / 2));
  if (l.zero == 0 || l.shard >= l.dp * l.cp) l.shard = 0;
  run.job.fused_loss =
      run.job.fused ? *rc::gen::element(Choice::framework, Choice::on) : Choice::framework;
  RC_PRE(check(run).empty());
  const auto files = launch_files(run, Launcher::torchtitan);
  RC_PRE(files.ok());
  const auto again = testing::read_back(run, *files, Launcher::torchtitan);
  if (!again) RC_FAIL(messages(again.problems()) + files->front().text);
  testing::expect_same_run(run, *again);
  std::set<std::string> names;
  collect(parse_toml(files->front().text, "t")->root, "", names);
  for (const std::string& name : names) {
    if (!kDocumented.contains(name)) RC_FAIL(name);
  }
}

TEST(LaunchTorchtitan, WhatItCannotExpressIsRefusedWithEveryReason) {
  headway::Run run;
  run.model = load_model("gpt3-175b").value();
  run.cluster = load_cluster("dgx-h100").value();
  run.job.framework = framework_from("fsdp").value();
  run.job.sequence = 2048;
  run.job.global_batch = 64;
  run.job.recipe = recipe_from("fp16");
  run.layout.zero = 1;
  run.layout.dp = 8;
  run.layout.tp = 8;
  run.layout.sequence_parallel = false;
  run.layout.recompute = Recompute::selective;
  const auto files = launch_files(run, Launcher::torchtitan);
  ASSERT_FALSE(files.ok());
  const std::string text = messages(files.problems());
  for (const char* part :
       {"--precision: fp16 cannot be expressed in torchtitan 0.2.2", "--zero: ZeRO 1", "--no-sp",
        "--recompute: selective", "--dropout", "--model: a network of this shape"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

constexpr std::string_view kUsual = R"([model]
name = "llama3"
flavor = "70B"
converters = ["float8"]
[training]
local_batch_size = 8
seq_len = 8192
[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
tensor_parallel_degree = 8
[activation_checkpoint]
mode = "full"
[compile]
enable = true
)";

TEST(LaunchTorchtitan, WhatIsLeftFollowsFromTheAccelerators) {
  const auto request = read_launch(kUsual, "t.toml", Launcher::torchtitan, 64);
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  EXPECT_EQ(field(*request, "model"), "llama-3.1-70b");
  EXPECT_EQ(field(*request, "gpus"), "64");
  EXPECT_EQ(field(*request, "global-batch"), "64");  // 8 on each of 8 replicas
  EXPECT_EQ(field(*request, "micro-batch"), "8");
  EXPECT_EQ(field(*request, "zero"), "3");
  EXPECT_EQ(field(*request, "precision"), "fp8-current");
  EXPECT_EQ(field(*request, "recompute"), "full");
  EXPECT_EQ(field(*request, "fused-loss"), "on");  // the default of compile.components
  for (const GivenField& given : request->fields) {
    if (given.name == "tp") {
      EXPECT_EQ(where_text(given.where), "t.toml:11: parallelism.tensor_parallel_degree");
    }
  }
}

// The same with the converter that reads [quantize.linear.float8].
std::string quantized(std::string_view toml) {
  std::string text(toml);
  constexpr std::string_view kConverter = "[\"float8\"]";
  return text.replace(text.find(kConverter), kConverter.size(), "[\"quantize.linear.float8\"]");
}

TEST(LaunchTorchtitan, WhatChangesTheStepIsRefusedUnlessItIsHarmless) {
  const auto request = read_launch(quantized(kUsual) +
                                       "[quantize.linear.float8]\n"
                                       "enable_fsdp_float8_all_gather = true\n"
                                       "recipe_name = \"rowwise\"\nfilter_fqns = [\"output\"]\n"
                                       "[optimizer]\nearly_step_in_backward = true\n"
                                       "[metrics]\nlog_freq = 1\n[mine]\nword = 1\n",
                                   "t.toml", Launcher::torchtitan, 64);
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(messages(request.problems()),
            "t.toml:17: quantize.linear.float8.enable_fsdp_float8_all_gather: gathers weights in 8 "
            "bit, which Headway cannot price; legal: false\n"
            "t.toml:18: quantize.linear.float8.recipe_name: scales by rows, which Headway cannot "
            "price; legal: tensorwise, null\n"
            "t.toml:21: optimizer.early_step_in_backward: updates within the backward pass, which "
            "Headway cannot price; legal: false\n");
  const auto degree = read_launch("[training]\nseq_len = 1\n[parallelism]\nnew_degree = 2\n",
                                  "t.toml", Launcher::torchtitan);
  ASSERT_FALSE(degree.ok());
  EXPECT_EQ(where_text(degree.problems()[0]), "t.toml:4: parallelism.new_degree");
  const auto converter = read_launch(
      "[model]\nconverters = [\"float8\", \"quantize.grouped_mm.mx\"]\n[training]\nseq_len = 1\n",
      "t.toml", Launcher::torchtitan);
  ASSERT_FALSE(converter.ok());
  EXPECT_EQ(where_text(converter.problems()[0]), "t.toml:2: model.converters");
  const auto unknown =
      read_launch(std::string(kUsual) + "[mine]\nword = 1\n", "t.toml", Launcher::torchtitan, 64);
  ASSERT_TRUE(unknown.ok()) << messages(unknown.problems());
  EXPECT_EQ(unknown->notes.back(), "left out, unknown to Headway: mine.word");
}

TEST(LaunchTorchtitan, IsToldFromARunFileByItsTables) {
  EXPECT_EQ(launcher_of(kUsual, "t.toml"), Launcher::torchtitan);
  EXPECT_EQ(launcher_of("model = \"llama-2-7b\"\nseq = 4096\n", "t.toml"), std::nullopt);
  EXPECT_EQ(launcher_of("[model]\nlayers = 3\n", "t.toml"), std::nullopt);
  EXPECT_EQ(launcher_of("pretrain.py --num-layers 3\n", "t.sh"), Launcher::megatron);
  EXPECT_EQ(launcher_of("--num-layers=3\n", "t.txt"), Launcher::megatron);
  EXPECT_EQ(launcher_of("", "t"), std::nullopt);
}

// Every second layer is recomputed by default (activation_checkpoint.py).
TEST(LaunchTorchtitan, SelectiveRecomputationByNumberIsThatOfOneInSoManyLayers) {
  const auto read = [](const std::string& option) {
    return read_launch(
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 4096\n"
        "local_batch_size = 1\n[parallelism]\ndata_parallel_shard_degree = 8\n"
        "[activation_checkpoint]\nmode = \"selective\"\n" +
            option,
        "t.toml", Launcher::torchtitan);
  };
  for (const auto& [option, one_in] :
       {std::pair{"", 2}, std::pair{"selective_ac_option = \"3\"\n", 3}}) {
    const auto request = read(option);
    ASSERT_TRUE(request.ok()) << messages(request.problems());
    RunRequest fields = request->fields;
    fields.push_back({"cluster", "dgx-h100"});
    const auto run = make_run(fields);
    ASSERT_TRUE(run.ok()) << messages(run.problems());
    EXPECT_EQ(run->layout.recompute, Recompute::full);
    EXPECT_EQ(run->layout.recompute_one_in, one_in);
    const auto files = launch_files(*run, Launcher::torchtitan);
    ASSERT_TRUE(files.ok()) << messages(files.problems());
    const auto again = testing::read_back(*run, *files, Launcher::torchtitan);
    ASSERT_TRUE(again.ok()) << messages(again.problems());
    EXPECT_EQ(again->layout.recompute_one_in, one_in);
    EXPECT_FALSE(launch_files(*run, Launcher::megatron).ok());
  }
  const auto refused = read("selective_ac_option = \"mm\"\n");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(where_text(refused.problems()[0]),
            "t.toml:11: activation_checkpoint.selective_ac_option");
}

TEST(LaunchTorchtitan, TablesOfConvertersThatAreNotUsedChangeNothing) {
  const std::string table = "[float8]\nenable_fsdp_float8_all_gather = true\n";
  const std::string plain =
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\n"
      "local_batch_size = 1\nseq_len = 128\n" +
      table;
  const auto request = read_launch(plain, "t.toml", Launcher::torchtitan, 8);
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  EXPECT_EQ(field(*request, "precision"), "bf16");
  // As a preset of torchtitan misspells it.
  EXPECT_TRUE(read_launch(plain + "[quantize.linear.fp8]\nfilter_fqns = [\"output\"]\n", "t.toml",
                          Launcher::torchtitan, 8)
                  .ok());
  const auto old = read_launch(
      plain.substr(0, plain.size() - table.size()) + "[float8]\nenable_float8_linear = true\n",
      "t.toml", Launcher::torchtitan, 8);
  ASSERT_TRUE(old.ok()) << messages(old.problems());
  EXPECT_EQ(field(*old, "precision"), "fp8-current");
}

TEST(LaunchTorchtitan, SelectiveRecomputationByOperatorIsOfEverySecondProduct) {
  const std::string text =
      "[model]\nname = \"qwen3\"\nflavor = \"0.6B\"\n[training]\n"
      "local_batch_size = 1\nseq_len = 128\n[activation_checkpoint]\n"
      "mode = \"selective\"\nselective_ac_option = \"op\"\n";
  const std::string besides = "per_op_sac_force_recompute_mm_shapes_by_fqns";
  const auto request =
      read_launch(text + besides + " = [\"moe.router.gate\"]\n", "t.toml", Launcher::torchtitan, 8);
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  EXPECT_EQ(field(*request, "recompute"), "every-second-product");
  EXPECT_EQ(field(*request, "recompute-early-stop"), "off");
  for (const std::string& note : request->notes) {
    EXPECT_EQ(note.find("recomputation"), std::string::npos) << note;
  }
  RunRequest fields = request->fields;
  fields.push_back({"cluster", "dgx-h100"});
  const auto run = make_run(fields);
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  EXPECT_EQ(run->layout.recompute, Recompute::every_second);
  // arXiv 2505.09388 table 1: 0.6 B parameters, tied.
  EXPECT_EQ(run->model.layers(), 28);
  EXPECT_TRUE(run->model.tied_embeddings);
  // Other products that run again besides change the answer.
  const auto others =
      read_launch(text + besides + " = [\"feed_forward.w1\"]\n", "t.toml", Launcher::torchtitan, 8);
  ASSERT_FALSE(others.ok());
  EXPECT_NE(messages(others.problems()).find(besides), std::string::npos);
}

TEST(LaunchTorchtitan, EverySecondProductIsWrittenAndReadBack) {
  headway::Run run;
  run.model = load_model("llama-3-8b").value();
  run.cluster = load_cluster("dgx-h100").value();
  run.job.framework = framework_from("fsdp").value();
  run.job.sequence = 8192;
  run.job.global_batch = 64;
  run.job.attention = AttentionKernel::flash2;
  run.layout.dp = 8;
  run.layout.zero = 3;
  run.layout.recompute = Recompute::every_second;
  const auto files = launch_files(run, Launcher::torchtitan);
  ASSERT_TRUE(files.ok()) << messages(files.problems());
  const auto request = read_launch(files->front().text, "t.toml", Launcher::torchtitan, 8);
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  EXPECT_EQ(field(*request, "recompute"), "every-second-product");
  EXPECT_EQ(field(*request, "recompute-early-stop"), "on");
  const std::pair<Launcher, const char*> others[] = {{Launcher::megatron, "megatron"},
                                                     {Launcher::deepspeed, "deepspeed"},
                                                     {Launcher::nanotron, "nanotron"}};
  for (const auto& [launcher, framework] : others) {
    run.job.framework = framework_from(framework).value();
    const auto refused = launch_files(run, launcher);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(messages(refused.problems()).find("every second product"), std::string::npos)
        << framework;
  }
}

TEST(LaunchTorchtitan, ANetworkThatPredictsFurtherTokensIsWrittenWithoutThatModule) {
  headway::Run run;
  run.model = load_model("deepseek-v3").value();
  ASSERT_GT(run.model.prediction_layers, 0);
  run.cluster = load_cluster("dgx-h100").value();
  run.job.framework = framework_from("fsdp").value();
  run.job.sequence = 4096;
  run.job.global_batch = 256;
  run.job.attention = AttentionKernel::flash2;
  run.layout.dp = 256;
  run.layout.zero = 3;
  const auto files = launch_files(run, Launcher::torchtitan);
  ASSERT_TRUE(files.ok()) << messages(files.problems());
  EXPECT_NE(files->front().text.find("flavor = \"671B\""), std::string::npos);
  EXPECT_NE(files->front().text.find("without its module"), std::string::npos);
}

}  // namespace
}  // namespace headway
