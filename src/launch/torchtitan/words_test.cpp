// Words of early releases of torchtitan, and its networks.
#include <gtest/gtest.h>

#include "launch/read_back_for_test.hpp"

namespace headway {
namespace {

using testing::field;
using testing::messages;

TEST(LaunchTorchtitanWords, DegreesOfEarlyReleasesStandInOtherTables) {
  const auto request = read_launch(
      "[model]\nname = \"llama2\"\nflavor = \"7B\"\nnorm_type = \"rmsnorm\"\n[training]\n"
      "batch_size = 2\nseq_len = 128\ndata_parallel_degree = -1\ntensor_parallel_degree = 4\n"
      "[experimental]\npipeline_parallel_degree = 2\n",
      "t.toml", Launcher::torchtitan, 16);
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  EXPECT_EQ(field(*request, "model"), "llama-2-7b");
  EXPECT_EQ(field(*request, "tp"), "4");
  EXPECT_EQ(field(*request, "pp"), "2");
  EXPECT_EQ(field(*request, "gpus"), "16");
}

// TorchTrain's train_configs/llama_7b.toml, April 2024.
TEST(LaunchTorchtitanWords, TorchTrainIsRead) {
  const auto read = [](const std::string& linear) {
    return read_launch(
        "[model]\nname = \"llama\"\nflavor = \"7B\"\nnorm_type = \"fused_rmsnorm\"\n[training]\n"
        "batch_size = 8\nseq_len = 2048\ndata_parallel_degree = -1\ntensor_parallel_degree = 1\n"
        "pipeline_parallel_degree = 1\nfp8_linear = \"" +
            linear + "\"\ncompile = false\n",
        "t.toml", Launcher::torchtitan, 8);
  };
  const auto request = read("");
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  EXPECT_EQ(field(*request, "model"), "llama-2-7b");
  EXPECT_EQ(field(*request, "recompute-one-in"), "2");
  EXPECT_FALSE(read("dynamic").ok());
}

// The word is of August 2025; before it torch.utils.checkpoint stopped early, as it does unasked.
TEST(LaunchTorchtitanWords, ReleasesBeforeEarlyStopStopEarly) {
  const auto stops = [](const std::string& batch, const std::string& word) {
    const auto request =
        read_launch("[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\n" + batch +
                        " = 2\n[activation_checkpoint]\nmode = \"full\"\n" + word,
                    "t.toml", Launcher::torchtitan, 8);
    return request ? field(*request, "recompute-early-stop") : messages(request.problems());
  };
  EXPECT_EQ(stops("local_batch_size", ""), "off");
  EXPECT_EQ(stops("batch_size", ""), "on");
  EXPECT_EQ(stops("tensor_parallel_degree", ""), "on");
  EXPECT_EQ(stops("compile = false\nlocal_batch_size", ""), "on");
  EXPECT_EQ(stops("batch_size", "early_stop = false\n"), "off");
}

TEST(LaunchTorchtitanWords, ACompiledLossLeavesTheNetworkAsItIs) {
  const auto request = read_launch(
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 128\n[compile]\n"
      "enable = true\ncomponents = [\"loss\"]\n",
      "t.toml", Launcher::torchtitan, 8);
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  EXPECT_EQ(field(*request, "unfused"), "true");
  EXPECT_EQ(field(*request, "fused-loss"), "on");
}

// Before 0.1 stages were stated by the layers they begin with, and micro-batches by their number.
TEST(LaunchTorchtitanWords, PipelinesOfEarlyReleasesAreReadInTheirWords) {
  const auto read = [](const std::string& pipeline) {
    return read_launch(
        "[model]\nname = \"qwen3\"\nflavor = \"0.6B\"\n[training]\nbatch_size = 8\nseq_len = 128\n"
        "data_parallel_degree = -1\nenable_float8_linear = false\n[experimental]\n"
        "pipeline_parallel_degree = 2\n" +
            pipeline,
        "t.toml", Launcher::torchtitan, 8);
  };
  const auto even = read("pipeline_parallel_split_points = \"layers.14\"\n");  // of 28
  ASSERT_TRUE(even.ok()) << messages(even.problems());
  EXPECT_EQ(field(*even, "vpp"), "1");
  EXPECT_EQ(field(*even, "embedding-slots"), "0");
  EXPECT_EQ(field(*even, "micro-batch"), "4");  // 8 in as many as there are stages
  const auto four = read(
      "pipeline_parallel_split_points = [\"layers.7\", \"layers.14\", \"layers.21\"]\n"
      "pipeline_parallel_schedule = \"interleaved_1f1b\"\npipeline_parallel_microbatches = 8\n");
  ASSERT_TRUE(four.ok()) << messages(four.problems());
  EXPECT_EQ(field(*four, "vpp"), "2");
  EXPECT_EQ(field(*four, "micro-batch"), "1");
  for (const char* wrong : {"pipeline_parallel_split_points = \"layers.99\"\n",
                            "pipeline_parallel_split_points = \"norm\"\n",
                            "pipeline_parallel_split_points = \"layers.9,layers.18\"\n",
                            "pipeline_parallel_microbatches = 3\n"}) {
    EXPECT_FALSE(read(wrong).ok()) << wrong;
  }
  const auto eight_bit = read_launch(
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\n"
      "enable_float8_linear = true\n",
      "t.toml", Launcher::torchtitan, 8);
  ASSERT_TRUE(eight_bit.ok()) << messages(eight_bit.problems());
  EXPECT_EQ(field(*eight_bit, "precision"), "fp8-current");
}

TEST(LaunchTorchtitanWords, ANetworkThatIsNoDecoderIsRefusedByItsName) {
  const auto request =
      read_launch("[model]\nname = \"flux\"\nflavor = \"flux-dev\"\n[training]\nimg_size = 256\n",
                  "t.toml", Launcher::torchtitan, 8);
  ASSERT_FALSE(request.ok());
  EXPECT_EQ(
      messages(request.problems()),
      "t.toml:2: model.name: trains a network of images, which Headway cannot price; legal: a "
      "decoder of text\n");
}

// torchtitan/models/llama4: every second layer has 8 experts, of which one is chosen beside a
// shared one. Of 4 · 256 units two thirds are kept for SwiGLU, halved between the two, and rounded
// up to 512; a dense layer's are 768.
TEST(LaunchTorchtitanWords, TheSmallLlama4HasExpertsInEverySecondLayer) {
  const auto request = read_launch(
      "[model]\nname = \"llama4\"\nflavor = \"debugmodel\"\n[training]\nlocal_batch_size = 1\n"
      "seq_len = 128\n[activation_checkpoint]\nmode = \"none\"\n",
      "t.toml", Launcher::torchtitan, 8);
  ASSERT_TRUE(request.ok()) << messages(request.problems());
  RunRequest fields = request->fields;
  fields.push_back({"cluster", "dgx-h100"});
  const auto run = make_run(fields);
  ASSERT_TRUE(run.ok()) << messages(run.problems());
  const Model& model = run->model;
  ASSERT_EQ(model.layers(), 6);
  for (std::size_t layer = 0; layer < 6; ++layer) {
    EXPECT_EQ(model.kinds[model.pattern[layer]].experts.has_value(), layer % 2 == 1) << layer;
  }
  // Embedding and head 2 · 2048 · 256; attention 4 · 256² a layer; three dense parts of
  // 3 · 256 · 768, three of 8 + 1 experts of 3 · 256 · 512 with a router of 8 · 256; 13 norms.
  EXPECT_EQ(parameters(model).total, 2.0 * 2048 * 256 + 6 * 4.0 * 256 * 256 + 3 * 3.0 * 256 * 768 +
                                         3 * (9 * 3.0 * 256 * 512 + 8 * 256) + 13 * 256);
}

}  // namespace
}  // namespace headway
