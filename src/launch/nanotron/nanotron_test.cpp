#include <gtest/gtest.h>

#include <set>

#include "launch/read_back_for_test.hpp"

namespace headway {
namespace {

using testing::messages;

// Options of nanotron 0.4, from its configuration classes (src/nanotron/config).
const std::set<std::string> kDocumented = {"general.project",
                                           "general.run",
                                           "general.seed",
                                           "model.ddp_bucket_cap_mb",
                                           "model.dtype",
                                           "model.init_method.std",
                                           "model.make_vocab_size_divisible_by",
                                           "model.model_config.bos_token_id",
                                           "model.model_config.eos_token_id",
                                           "model.model_config.hidden_act",
                                           "model.model_config.hidden_size",
                                           "model.model_config.intermediate_size",
                                           "model.model_config.is_llama_config",
                                           "model.model_config.max_position_embeddings",
                                           "model.model_config.num_attention_heads",
                                           "model.model_config.num_hidden_layers",
                                           "model.model_config.num_key_value_heads",
                                           "model.model_config.rms_norm_eps",
                                           "model.model_config.tie_word_embeddings",
                                           "model.model_config.vocab_size",
                                           "optimizer.accumulate_grad_in_fp32",
                                           "optimizer.clip_grad",
                                           "optimizer.learning_rate_scheduler.learning_rate",
                                           "optimizer.learning_rate_scheduler.lr_decay_style",
                                           "optimizer.learning_rate_scheduler.lr_warmup_steps",
                                           "optimizer.learning_rate_scheduler.lr_warmup_style",
                                           "optimizer.learning_rate_scheduler.min_decay_lr",
                                           "optimizer.optimizer_factory.adam_beta1",
                                           "optimizer.optimizer_factory.adam_beta2",
                                           "optimizer.optimizer_factory.adam_eps",
                                           "optimizer.optimizer_factory.name",
                                           "optimizer.optimizer_factory.torch_adam_is_fused",
                                           "optimizer.weight_decay",
                                           "optimizer.zero_stage",
                                           "parallelism.dp",
                                           "parallelism.expert_parallel_size",
                                           "parallelism.pp",
                                           "parallelism.pp_engine",
                                           "parallelism.recompute_layer",
                                           "parallelism.tp",
                                           "parallelism.tp_linear_async_communication",
                                           "parallelism.tp_mode",
                                           "parallelism.tp_recompute_allgather",
                                           "tokens.batch_accumulation_per_replica",
                                           "tokens.micro_batch_size",
                                           "tokens.sequence_length",
                                           "tokens.train_steps"};

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

RC_GTEST_PROP(LaunchNanotron, AWrittenConfigurationIsReadBackAsTheSameRun, ()) {
  headway::Run run = testing::random_run_of(framework_from("nanotron").value());
  run.model =
      load_model(*rc::gen::element<std::string>("llama-2-7b", "llama-3-70b", "llama-3.2-1b"))
          .value();
  run.job.attention = AttentionKernel::flash2;
  run.job.fused = false;  // as its kernels are
  run.job.small_gradients = *rc::gen::arbitrary<bool>();
  Layout& l = run.layout;
  l.cp = l.vpp = l.ep = l.etp = 1;
  l.context_exchange = ContextExchange::ring;
  l.embedding_slots = l.head_slots = 0;
  l.recompute_every = 1;
  if (l.recompute == Recompute::selective) l.recompute = Recompute::full;
  l.zero = std::min(l.zero, 1);
  l.overlap_gradients = l.overlap_parameters = Choice::framework;
  l.keep_gathered = *rc::gen::arbitrary<bool>();
  l.schedule =
      l.pp > 1 ? *rc::gen::element(Schedule::one_f_one_b, Schedule::gpipe) : Schedule::one_f_one_b;
  RC_PRE(check(run).empty());
  const auto files = launch_files(run, Launcher::nanotron);
  RC_PRE(files.ok());
  const auto again = testing::read_back(run, *files, Launcher::nanotron);
  if (!again) RC_FAIL(messages(again.problems()) + files->front().text);
  testing::expect_same_run(run, *again);
  std::set<std::string> names;
  collect(parse_yaml(files->front().text, "c")->root, "", names);
  for (const std::string& name : names) {
    if (!kDocumented.contains(name)) RC_FAIL(name);
  }
}

TEST(LaunchNanotron, WhatItCannotExpressIsRefusedWithEveryReason) {
  headway::Run run;
  run.model = load_model("mixtral-8x7b").value();
  run.cluster = load_cluster("dgx-h100").value();
  run.job.framework = framework_from("nanotron").value();
  run.job.sequence = 4096;
  run.job.global_batch = 64;
  run.layout.cp = 2;
  run.layout.zero = 3;
  run.layout.offload_optimizer = true;
  const auto files = launch_files(run, Launcher::nanotron);
  ASSERT_FALSE(files.ok());
  const std::string text = messages(files.problems());
  for (const char* part : {"--cp: context parallelism cannot be expressed in nanotron 0.4",
                           "--zero: ZeRO 3", "--offload", "--model: a network that is not"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(LaunchNanotron, DefaultsAreTheFrameworksOwn) {
  const std::string text =
      "parallelism:\n  dp: 4\n  pp: 2\n  tp: 2\ntokens:\n  micro_batch_size: 2\n"
      "  batch_accumulation_per_replica: 8\n  sequence_length: 2048\n";
  EXPECT_EQ(launcher_of(text, "c.yaml"), Launcher::nanotron);
  auto request = read_launch(text, "c.yaml", Launcher::nanotron);
  ASSERT_TRUE(request.ok());
  RunRequest fields = request->fields;
  fields.push_back({"cluster", "dgx-h100"});
  fields.push_back({"model", "llama-2-7b"});
  const auto run = make_run(fields);
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  EXPECT_EQ(run->layout.schedule, Schedule::gpipe);  // all forward, all backward
  EXPECT_FALSE(run->layout.sequence_parallel);       // tp_mode ALL_REDUCE
  EXPECT_EQ(run->layout.ranks(), 16);
  EXPECT_EQ(run->job.global_batch, 64);
}

TEST(LaunchNanotron, WhatChangesTheStepIsRefused) {
  const auto request = read_launch(
      "general:\n  project: x\nparallelism:\n  dp: 4\n  pp: 1\n  tp: 2\n  new_degree: 2\n"
      "model:\n  model_config:\n    moe_num_experts: 8\n"
      "    rope_theta: 500000\ntokens:\n  micro_batch_size: 2\n",
      "c.yaml", Launcher::nanotron);
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(messages(request.problems()),
            "c.yaml:7: parallelism.new_degree: changes how the step is split, which Headway cannot "
            "price; legal: null\n"
            "c.yaml:10: model.model_config.moe_num_experts: gives layers experts, which Headway "
            "cannot price; legal: null, false\n");
}

// examples/doremi trains its reference with the first two alone; the third is the network beside.
TEST(LaunchNanotron, WordsOfExamplesAndEarlyReleasesAreRefusedWhereTheyChangeTheStep) {
  const auto problems = [](const std::string& parallelism, const std::string& more) {
    const auto request = read_launch("parallelism:\n  dp: 4\n  pp: 1\n  tp: 2\n" + parallelism +
                                         "tokens:\n  micro_batch_size: 2\n" + more,
                                     "c.yaml", Launcher::nanotron);
    return request ? "" : messages(request.problems());
  };
  EXPECT_EQ(problems("  recompute_granularity: SELECTIVE\n", ""), "");
  EXPECT_EQ(problems("  recompute_granularity: FULL\n", ""),
            "c.yaml:5: parallelism.recompute_granularity: recomputes more than attention's scores; "
            "give --recompute instead, which Headway cannot price; legal: selective, null\n");
  EXPECT_EQ(problems("", "doremi:\n  domain_names: A, B\n  domain_weights: 0.3, 0.7\n"), "");
  EXPECT_EQ(problems("", "doremi:\n  domain_names: A, B\n  ref_model_resume_checkpoint_path: x\n"),
            "c.yaml:9: doremi.ref_model_resume_checkpoint_path: compares with a network that runs "
            "beside, which Headway cannot price; legal: null\n");
}

TEST(LaunchNanotron, HostileDegreesAreRefused) {
  for (const char* dp : {"0", "-3", "99999999999999999999", "1000000"}) {
    const std::string text = "parallelism:\n  dp: " + std::string(dp) +
                             "\n  pp: 1000000\n  tp: 1000000\ntokens:\n  micro_batch_size: 1\n";
    EXPECT_FALSE(read_launch(text, "c.yaml", Launcher::nanotron).ok()) << dp;
  }
}

TEST(LaunchNanotron, ActivationAndWindowAreTheFiles) {
  const auto request = read_launch(
      "parallelism:\n  dp: 1\n  dp: 2\n  pp: 1\n  tp: 1\nmodel:\n  model_config:\n"
      "    hidden_act: gelu\n    hidden_size: 256\n    intermediate_size: 512\n"
      "    num_attention_heads: 4\n    num_hidden_layers: 2\n    num_key_value_heads: 4\n"
      "    sliding_window_size: 64\n    vocab_size: 1000\ntokens:\n"
      "  batch_accumulation_per_replica: 1\n  micro_batch_size: 2\n  sequence_length: 128\n",
      "c.yaml", Launcher::nanotron);
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  // The last of a key counts, as for the programs that read it, and is told.
  EXPECT_EQ(request->notes,
            (std::vector<std::string>{
                "c.yaml:3: 'dp' stands twice: this one counts, not that of line 2"}));
  RunRequest fields = request->fields;
  fields.push_back({"cluster", "dgx-h100"});
  const auto run = make_run(fields);
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  EXPECT_EQ(run->layout.dp, 2);
  EXPECT_EQ(run->model.kinds[0].feed_forward->activation, Activation::gelu);
  EXPECT_TRUE(run->model.kinds[0].feed_forward->gated);
  EXPECT_EQ(run->model.kinds[0].attention->window, 64);
}

}  // namespace
}  // namespace headway
