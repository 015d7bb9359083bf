#include "run/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "layout/ends.hpp"
#include "layout/layout.hpp"
#include "layout/placement.hpp"

namespace headway {
namespace {

RunRequest request(std::initializer_list<std::pair<const char*, const char*>> fields) {
  RunRequest out = {
      {"model", "llama-2-7b"}, {"cluster", "dgx-h100"}, {"seq", "4096"}, {"global-batch", "64"}};
  for (const auto& [name, text] : fields) {
    out.push_back({std::string(name), std::string(text)});
  }
  return out;
}

std::string messages(const Problems& problems) {
  std::string out;
  for (const Problem& problem : problems)
    out += where_text(problem) + ": " + problem.message + "\n";
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

// [STEP-25] 61 layers on 16 stages: what is assumed is said, and one field given decides both.
TEST(Run, LayersAreSpreadAsIsUsualWhereNothingSaysHow) {
  const auto run = [](std::initializer_list<std::pair<const char*, const char*>> fields) {
    RunRequest asked = request(fields);
    asked.push_back({"model", "deepseek-v3"});
    asked.push_back({"pp", "16"});
    const auto made = make_run(asked);
    EXPECT_TRUE(made.ok()) << messages(made.problems());
    return made.value();
  };
  const auto ends = [](const RequestedRun& made) {
    return EndSlots{made.layout.embedding_slots, made.layout.head_slots};
  };
  const auto assumed = [](const RequestedRun& made) {
    return std::any_of(
        made.assumptions.begin(), made.assumptions.end(),
        [](const std::string& text) { return text.find("head-slots") != std::string::npos; });
  };
  EXPECT_EQ(ends(run({})), (EndSlots{0, 2}));
  EXPECT_TRUE(assumed(run({})));
  EXPECT_EQ(ends(run({{"head-slots", "0"}})), EndSlots{});
  EXPECT_FALSE(assumed(run({{"head-slots", "0"}})));
  EXPECT_EQ(ends(run({{"embedding-slots", "1"}})), (EndSlots{1, 0}));
  EXPECT_EQ(ends(run({{"last-stage-layers", "1"}})), EndSlots{});

  RequestedRun other = run({});
  other.layout.pp = 1;
  settle_ends(other);
  EXPECT_EQ(ends(other), EndSlots{});
  RequestedRun given = run({{"head-slots", "3"}});
  given.layout.pp = 8;
  settle_ends(given);
  EXPECT_EQ(ends(given), (EndSlots{0, 3}));
}

// Meta's 128 chunks: as many as the layers and two ends; what is wrong besides hides none of it.
TEST(Run, ChunksAreCountedWithTheEndsThatAreAssumed) {
  const RunRequest asked = {{"model", "llama-3.1-405b"},
                            {"cluster", "dgx-h100"},
                            {"gpus", "16384"},
                            {"seq", "8192"},
                            {"global-batch", "2048"},
                            {"tp", "8"},
                            {"pp", "16"},
                            {"vpp", "8"}};
  const auto run = make_run(asked);
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  RunRequest wrong = asked;
  wrong.push_back({"recompute", "some"});
  const auto refused = make_run(wrong);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.problems().size(), 1u) << messages(refused.problems());
  wrong = asked;
  wrong.push_back({"embedding-slots", "0"});
  EXPECT_FALSE(make_run(wrong).ok());
}

// One accelerator is asked for, not taken where nothing is said.
TEST(Run, AcceleratorsThatNothingSaysAreMissing) {
  const auto run = make_run(request({{"ep", "1"}, {"vpp", "1"}}));
  ASSERT_FALSE(run.ok());
  ASSERT_EQ(run.problems().size(), 1u) << messages(run.problems());
  EXPECT_EQ(where_text(run.problems()[0]), "--gpus");
  EXPECT_EQ(run.problems()[0].kind, Trouble::missing);
  EXPECT_TRUE(make_run(request({{"tp", "1"}})).ok());
  EXPECT_TRUE(make_unsplit_run(request({})).ok());
}

TEST(Run, DegreesThatContradictTheAcceleratorsAreRefused) {
  const auto run = make_run(request({{"gpus", "64"}, {"dp", "4"}, {"tp", "4"}}));
  ASSERT_FALSE(run.ok());
  EXPECT_NE(messages(run.problems()).find("--gpus: 64 is not dp x tp x cp x pp = 4 x 1 x 1 = 4"),
            std::string::npos)
      << messages(run.problems());
}

// Of a range of a thousand million numbers not each is told.
TEST(Run, ANumberBeyondItsRangeIsToldWhichAreLegal) {
  const auto told = [](const char* name, const char* text) {
    const auto run = make_run(request({{"gpus", "8"}, {name, text}}));
    return run.ok() ? std::string("legal") : messages(run.problems());
  };
  EXPECT_EQ(told("vocab", "1000000001"), "--vocab: is 1000000001; legal: 1 to 1000000000\n");
  EXPECT_EQ(told("zero", "4"), "--zero: is 4; legal: 0, 1, 2, 3\n");
}

TEST(Run, AnOrderMustNameEveryDimensionOnce) {
  EXPECT_TRUE(make_run(request({{"gpus", "8"}, {"order", "dp-tp-cp-pp"}})).ok());
  for (const char* order :
       {"", "tp", "tp-tp-dp-pp", "tp-cp-dp-pp-tp", "tp-cp-dp-xx", "tp cp dp pp"}) {
    EXPECT_FALSE(make_run(request({{"gpus", "8"}, {"order", order}})).ok()) << order;
  }
}

TEST(Run, OffloadTakesAListAndRefusesWhatCannotGo) {
  const auto run = make_run(request({{"offload", "optimizer, activations"}, {"dp", "8"}}));
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  EXPECT_TRUE(run->layout.offload_optimizer && run->layout.offload_activations);
  EXPECT_FALSE(run->layout.offload_parameters);
  EXPECT_FALSE(make_run(request({{"gpus", "8"}, {"offload", "gradients"}})).ok());
}

TEST(Run, WhatWasNotGivenIsNamedAsAssumed) {
  const auto run = make_run(request({{"gpus", "8"}}));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->layout.zero, 1);  // Megatron-LM's distributed optimiser
  ASSERT_EQ(run->assumptions.size(), 1u);
  EXPECT_NE(run->assumptions[0].find("zero 1"), std::string::npos);
  EXPECT_TRUE(make_run(request({{"gpus", "8"}, {"zero", "0"}}))->assumptions.empty());
}

bool says(const RequestedRun& run, std::string_view beginning) {
  return std::any_of(run.assumptions.begin(), run.assumptions.end(),
                     [&](const std::string& text) { return text.starts_with(beginning); });
}

TEST(Run, ExpertsAreSplitAsTheFrameworkSplitsThemAndThatIsSaid) {
  const auto run = [](std::initializer_list<std::pair<const char*, const char*>> more) {
    RunRequest asked = request({{"gpus", "32"}, {"tp", "2"}, {"ep", "4"}});
    asked.push_back({"model", "mixtral-8x7b"});
    for (const auto& [name, text] : more) asked.push_back({std::string(name), std::string(text)});
    const auto made = make_run(asked);
    EXPECT_TRUE(made.ok()) << messages(made.problems());
    return made.value();
  };
  const RequestedRun habit = run({});
  EXPECT_EQ(habit.layout.etp, 2);
  EXPECT_TRUE(says(habit, "etp 2: the framework"));
  const RequestedRun given = run({{"etp", "1"}});
  EXPECT_EQ(given.layout.etp, 1);
  EXPECT_FALSE(says(given, "etp"));
  const RequestedRun other = run({{"framework", "fsdp"}});
  EXPECT_EQ(other.layout.etp, 1);
  EXPECT_FALSE(says(other, "etp"));
  // 8 x 8 is more than the 32 ranks: what cannot be is not assumed, and that is said.
  const RequestedRun most = run({{"tp", "8"}, {"ep", "8"}});
  EXPECT_EQ(most.layout.etp, 1);
  EXPECT_TRUE(says(most, "etp 1: experts cannot be split"));
}

TEST(Run, OfAFrameworkThatNothingIsKnownOfIsEagerAndNotOverlapped) {
  const auto run = make_run(request({{"gpus", "8"}, {"framework", "other"}}));
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  EXPECT_FALSE(run->job.fused);
  EXPECT_TRUE(says(*run, "framework other: nothing is known of it"));
  const auto compiled =
      make_run(request({{"gpus", "8"}, {"framework", "other"}, {"unfused", "false"}}));
  ASSERT_TRUE(compiled.ok());
  EXPECT_TRUE(compiled->job.fused);
  const auto unknown = make_run(request({{"gpus", "8"}, {"framework", "colossalai"}}));
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(messages(unknown.problems()).find("; 'other': nothing is known of it"),
            std::string::npos);
}

// [sources] of data/frameworks/megatron-deepspeed.toml: its kernels are fused, as Megatron's.
TEST(Run, OfMegatronDeepSpeedIsFusedAndNotOverlapped) {
  const auto run = make_run(request({{"gpus", "8"}, {"framework", "megatron-deepspeed"}}));
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  EXPECT_TRUE(run->job.fused);
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
      std::filesystem::path(::testing::TempDir()) / "headway_run_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "c.toml") << "base = \"dgx-h100\"\ntitle = \"mine\"\n";
  std::ofstream(folder / "run.toml")
      << "model = \"llama-2-7b\"\ncluster = \"c.toml\"\nseq = 4096\nglobal-batch = 8\ngpus = 8\n";
  const auto read = read_run_file((folder / "run.toml").string());
  ASSERT_TRUE(read.ok());
  const auto run = make_run(*read);
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  EXPECT_EQ(run->cluster.title, "mine");
  std::filesystem::remove_all(folder);
}

TEST(Run, TheSettingsOfAnEagerFrameworkReachTheJob) {
  const auto run = make_run(request({{"gpus", "1"},
                                     {"framework", "fsdp"},
                                     {"param-dtype", "fp32"},
                                     {"reduce-dtype", "bf16"},
                                     {"fused-loss", "on"},
                                     {"loss-metrics", "2"},
                                     {"padding-mask", "true"},
                                     {"recompute", "full"},
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

TEST(Run, WhatIsKnownOfTheMachineStandsBesideItsName) {
  const auto run = make_run(request({{"gpus", "16"},
                                     {"board-power", "500 W"},
                                     {"memory-bandwidth", "3 TB/s"},
                                     {"network", "roce"},
                                     {"network-bandwidth", "4 x 200 Gb/s"}}));
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  const Cluster& cluster = run->cluster;
  EXPECT_EQ(cluster.accelerator.power_limit(), Watts(500));
  EXPECT_EQ(cluster.accelerator.memory_bandwidth, BytesPerSecond(3e12));
  EXPECT_EQ(cluster.levels[1].network, "roce");
  EXPECT_DOUBLE_EQ(cluster.levels[1].bandwidth.value(), 12.5e9);
  for (const auto& [field, wrong] : {std::pair("board-power", "20 W"),
                                     {"network", "token-ring"},
                                     {"memory-bandwidth", "3"},
                                     {"network-bandwidth", "many"}}) {
    const auto refused = make_run(request({{"gpus", "16"}, {field, wrong}}));
    ASSERT_FALSE(refused.ok()) << field;
    EXPECT_EQ(where_text(refused.problems().front()), std::string("--") + field);
  }
}

// Tensor parallelism over 8, of nodes of which the job has 4 accelerators each, crosses nodes.
TEST(Run, ASliceSaysWhatTheJobWasGivenOfEachDomain) {
  const auto sliced = [](const char* slice) {
    return make_run(request({{"gpus", "16"}, {"tp", "8"}, {"slice", slice}}));
  };
  const auto in_a_node = [](const Result<RequestedRun>& run) {
    return shares_memory(spans(run->layout, run->cluster).tp, run->cluster);
  };
  const auto of_four = sliced("node=4");
  ASSERT_TRUE(of_four.ok()) << messages(of_four.problems());
  EXPECT_FALSE(in_a_node(of_four));
  EXPECT_TRUE(in_a_node(sliced("node=8")));
  for (const char* wrong : {"node=3", "node=16", "rack=4", ""}) {
    const auto refused = sliced(wrong);
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_EQ(where_text(refused.problems().front()), "--slice") << wrong;
  }
}

// Strategies and tables are of networks; of one without tables nothing of tables is read; what
// needs another field is refused without it. All at once.
TEST(Run, FieldsOfNetworksAreReadOfThemAlone) {
  const auto wrong = [](const RunRequest& request) {
    std::string out;
    const auto run = make_run(request);
    if (!run) {
      for (const Problem& problem : run.problems()) {
        out += where_text(problem) + ": " + problem.message + "\n";
      }
    }
    return out;
  };
  const std::string of_language = wrong({{"model", "llama-2-7b"},
                                         {"cluster", "dgx-h100"},
                                         {"gpus", "8"},
                                         {"seq", "4096"},
                                         {"global-batch", "64"},
                                         {"tables", "grid"},
                                         {"attentions", "sharded"}});
  EXPECT_NE(of_language.find("tables: is of networks of modules"), std::string::npos);
  EXPECT_NE(of_language.find("attentions: is of networks of modules"), std::string::npos);
  const std::string of_images = wrong({{"model", "vit-l"},
                                       {"cluster", "dgx-h100"},
                                       {"gpus", "8"},
                                       {"global-batch", "64"},
                                       {"copy-below", "5"}});
  EXPECT_NE(of_images.find("copy-below: is of tables of embeddings"), std::string::npos);
  const RunRequest clicks = {
      {"model", "dlrm-dcnv2"}, {"cluster", "dgx-h100"}, {"gpus", "8"}, {"global-batch", "64"}};
  RunRequest idle = clicks;
  idle.insert(idle.end(), {{"table-columns", "64"}, {"table-hits", "0.5"}});
  const std::string idle_said = wrong(idle);
  EXPECT_NE(idle_said.find("read with tables column-wise or grid"), std::string::npos) << idle_said;
  EXPECT_NE(idle_said.find("read with table-cache below 1"), std::string::npos) << idle_said;
  RunRequest apart = clicks;
  apart.insert(apart.end(),
               {{"tables", "column-wise"}, {"table-columns", "48"}, {"top-mlp", "tensor-in-node"}});
  const std::string said = wrong(apart);
  EXPECT_NE(said.find("48 must divide the width of the tables, 128"), std::string::npos) << said;
  EXPECT_NE(said.find("needs several nodes"), std::string::npos) << said;
}

}  // namespace
}  // namespace headway
