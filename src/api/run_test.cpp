#include "api/run.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>

#include "api/predict.hpp"

namespace headway {
namespace {

RunRequest request(std::initializer_list<std::pair<const char*, const char*>> fields) {
  RunRequest out = {{"model", "llama-2-7b", "--model"},
                    {"cluster", "dgx-h100", "--cluster"},
                    {"seq", "4096", "--seq"},
                    {"global-batch", "64", "--global-batch"}};
  for (const auto& [name, text] : fields) {
    out.push_back({name, text, "--" + std::string(name)});
  }
  return out;
}

std::string messages(const Problems& problems) {
  std::string out;
  for (const Problem& problem : problems) out += problem.where + ": " + problem.message + "\n";
  return out;
}

TEST(Run, DataParallelDegreeIsWhatTheOthersLeave) {
  const auto run = make_run(request({{"gpus", "64"}, {"tp", "4"}, {"pp", "2"}}));
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  EXPECT_EQ(run->layout.dp, 8);
}

TEST(Run, AcceleratorsAreTheProductOfTheDegreesWhereNotGiven) {
  const auto run = make_run(request({{"dp", "2"}, {"tp", "4"}, {"pp", "2"}}));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->layout.ranks(), 16);
}

TEST(Run, DegreesThatContradictTheAcceleratorsAreRefused) {
  const auto run = make_run(request({{"gpus", "64"}, {"dp", "4"}, {"tp", "4"}}));
  ASSERT_FALSE(run.ok());
  EXPECT_NE(messages(run.problems()).find("--gpus: 64 is not dp x tp x cp x pp = 4 x 1 x 1 = 4"),
            std::string::npos)
      << messages(run.problems());
}

TEST(Run, AnOrderMustNameEveryDimensionOnce) {
  EXPECT_TRUE(make_run(request({{"order", "dp-tp-cp-pp"}})).ok());
  for (const char* order :
       {"", "tp", "tp-tp-dp-pp", "tp-cp-dp-pp-tp", "tp-cp-dp-xx", "tp cp dp pp"}) {
    EXPECT_FALSE(make_run(request({{"order", order}})).ok()) << order;
  }
}

TEST(Run, OffloadTakesAListAndRefusesWhatCannotGo) {
  const auto run = make_run(request({{"offload", "optimizer, activations"}, {"dp", "8"}}));
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  EXPECT_TRUE(run->layout.offload_optimizer && run->layout.offload_activations);
  EXPECT_FALSE(run->layout.offload_parameters);
  EXPECT_FALSE(make_run(request({{"offload", "gradients"}})).ok());
}

TEST(Run, WhatWasNotGivenIsNamedAsAssumed) {
  const auto run = make_run(request({{"gpus", "8"}}));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->layout.zero, 1);  // Megatron-LM's distributed optimiser
  ASSERT_EQ(run->assumptions.size(), 1u);
  EXPECT_NE(run->assumptions[0].find("zero 1"), std::string::npos);
  EXPECT_TRUE(make_run(request({{"gpus", "8"}, {"zero", "0"}}))->assumptions.empty());
}

TEST(Run, OlderHardwareGetsWhatItSupports) {
  RunRequest on_v100 = request({{"gpus", "8"}, {"tp", "8"}});
  on_v100[1].text = "dgx-v100";
  const auto run = make_run(on_v100);
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  EXPECT_EQ(run->job.recipe->name, "fp16");
  EXPECT_EQ(run->job.attention, AttentionKernel::unfused);
}

TEST(Run, ALaterFieldOverridesAnEarlierOne) {
  EXPECT_EQ(make_run(request({{"tp", "2"}, {"tp", "4"}}))->layout.tp, 4);
}

TEST(Run, ModelAndClusterFilesStandBesideTheRunFile) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "headway_run_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "c.toml") << "base = \"dgx-h100\"\ntitle = \"mine\"\n";
  std::ofstream(folder / "run.toml")
      << "model = \"llama-2-7b\"\ncluster = \"c.toml\"\nseq = 4096\nglobal-batch = 8\n";
  const auto read = read_run_file((folder / "run.toml").string());
  ASSERT_TRUE(read.ok());
  const auto run = make_run(*read);
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  EXPECT_EQ(run->cluster.title, "mine");
  std::filesystem::remove_all(folder);
}

// Random legal and illegal fields: those that make a legal run are written and read back.
RC_GTEST_PROP(Run, ASavedRunIsReadBackAsTheSameRun, ()) {
  const auto degree = [] { return std::to_string(1 << *rc::gen::inRange(0, 4)); };
  RunRequest fields = request({});
  for (const char* name : {"tp", "pp", "vpp", "dp", "micro-batch", "cp"}) {
    if (*rc::gen::arbitrary<bool>()) fields.push_back({name, degree(), name});
  }
  const auto one_of = [&](const char* name, std::vector<std::string> texts) {
    if (*rc::gen::arbitrary<bool>()) {
      fields.push_back({name, *rc::gen::elementOf(texts), name});
    }
  };
  one_of("recompute", {"none", "selective", "full"});
  one_of("framework", {"megatron", "fsdp", "deepspeed", "nanotron", "jax"});
  one_of("precision", {"bf16", "fp8", "fp32"});
  one_of("zero", {"0", "1", "2", "3"});
  one_of("no-sp", {"true", "false"});
  one_of("dropout", {"0.1", "0"});
  one_of("unfused", {"true", "false"});
  one_of("fused-loss", {"on", "off"});
  one_of("loss-metrics", {"0", "2"});
  one_of("padding-mask", {"true", "false"});
  one_of("recompute-early-stop", {"on", "off"});
  one_of("attention", {"flash1", "triton"});
  const auto run = make_run(fields);
  RC_PRE(run.ok());
  const auto document = parse_toml(run_file_text(*run), "saved.toml");
  RC_ASSERT(document.ok());
  const auto again = make_run(*run_request_from(document->root, "saved.toml"));
  RC_ASSERT(again.ok());
  RC_ASSERT(again->layout == run->layout);
  RC_ASSERT(predict_json(*again, *predict(*again)) == predict_json(*run, *predict(*run)));
}

RC_GTEST_PROP(Run, AnyTextInAnyFieldIsAnsweredWithARunOrProblems, ()) {
  RunRequest fields = request({});
  const auto names = run_fields();
  const int changes = *rc::gen::inRange(1, 6);
  for (int i = 0; i < changes; ++i) {
    const auto index = *rc::gen::inRange<std::size_t>(0, names.size());
    const auto text = *rc::gen::oneOf(
        rc::gen::arbitrary<std::string>(),
        rc::gen::elementOf(std::vector<std::string>{"0", "-1", "1", "7", "1000000", "1e30", "nan",
                                                    "999999999999", "99999999999999999999", ""}));
    fields.push_back({std::string(names[index].name), text, "field"});
  }
  const auto run = make_run(fields);
  if (!run) {
    RC_ASSERT(!run.problems().empty());
    return;
  }
  const auto forecast = predict(*run);
  RC_ASSERT(forecast.ok());
  RC_ASSERT(forecast->step_time > Seconds(0));
}

TEST(Run, TheSettingsOfAnEagerFrameworkReachTheJob) {
  const auto run = make_run(request({{"framework", "fsdp"},
                                     {"param-dtype", "fp32"},
                                     {"reduce-dtype", "bf16"},
                                     {"fused-loss", "on"},
                                     {"loss-metrics", "2"},
                                     {"padding-mask", "true"},
                                     {"recompute-early-stop", "off"},
                                     {"attention", "triton"},
                                     {"unfused", "true"}}));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->job.param_dtype, WireFormat::fp32);
  EXPECT_EQ(run->job.reduce_dtype, WireFormat::bf16);
  EXPECT_EQ(run->job.fused_loss, Choice::on);
  EXPECT_EQ(run->job.loss_metrics, 2);
  EXPECT_TRUE(run->job.padding_mask);
  EXPECT_FALSE(run->job.fused);
  EXPECT_EQ(run->job.attention, AttentionKernel::triton);
  EXPECT_EQ(run->layout.recompute_early_stop, Choice::off);
}

// Each pod does what the one did, for its half of the batch; what is new is that the two copies add
// up their gradients, 1/3,072 of them on each chip, over the network between the pods.
TEST(Run, TwoPodsOfPalmStepAsOneWithHalfTheBatchDoes) {
  const auto step = [](const char* gpus, const char* batch) {
    const auto run = make_run({{"model", "palm-540b", ""},
                               {"cluster", "tpu-v4", ""},
                               {"gpus", gpus, ""},
                               {"seq", "2048", ""},
                               {"global-batch", batch, ""},
                               {"framework", "jax", ""},
                               {"tp", "12", ""},
                               {"zero", "3", ""},
                               {"shard", "256", ""},
                               {"recompute", "full", ""},
                               {"micro-batch", "2", ""},
                               {"no-sp", "true", ""}});
    EXPECT_TRUE(run.ok()) << messages(run.ok() ? Problems() : run.problems());
    return run.ok() ? predict(*run)->step_time : Seconds(0);
  };
  const Seconds one = step("3072", "1024"), both = step("6144", "2048");
  EXPECT_GT(both, one);
  EXPECT_LT(both / one, 1.02);
}

TEST(PredictText, FitsATerminalAndSaysWhatBinds) {
  const auto run = make_run(request({{"gpus", "64"}, {"tp", "8"}, {"pp", "2"}, {"vpp", "4"}}));
  ASSERT_TRUE(run.ok());
  const std::string text = predict_text(*run, *predict(*run));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 100u) << text.substr(begin, end - begin);
    begin = end + 1;
  }
  for (const char* word : {"step time", "compute", "bubble", "activations", "fits", "all_gather"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace headway
