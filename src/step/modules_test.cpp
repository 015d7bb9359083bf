// Steps of networks of modules.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "step/case_for_test.hpp"

namespace headway {
namespace {

using namespace testing;

double flops_of(const Step& step, Phase phase, bool of_weights) {
  double out = 0;
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    for (const Op& op : only<Op>(step.blocks[i].items)) {
      if (op.phase != phase || op.weight_gradient != of_weights) continue;
      out += static_cast<double>(step.stages[0].counts[i]) * work(op).value();
    }
  }
  return out;
}

// Each product has one of its input's gradient and one of its weight's; the first reads the image,
// which has none: 2 · 112² · 64 · 147 FLOP of ResNet-50's.
TEST(Modules, TrainWithTwoProductsForEachButTheFirst) {  // [STEP-29]
  const Case c = case_of_network("resnet-50", 1, 4);
  expect_legal(c);
  const Step step = c.lowered();
  const double forward = 4 * forward_flops(c.model, 1, AttentionFlops::full).value();
  EXPECT_NEAR(flops_of(step, Phase::forward, false), forward, 1e-9 * forward);
  EXPECT_NEAR(flops_of(step, Phase::backward, true), forward, 1e-9 * forward);
  const double first = 4 * 2 * 112.0 * 112 * 64 * 147;
  EXPECT_NEAR(flops_of(step, Phase::backward, false), forward - first, 1e-9 * forward);
}

// All products that a step runs are those that its model FLOPs count, in networks without
// attention, whose backward pass computes scores once more, and dot products, which are a pass.
TEST(Modules, RunTheFlopsThatAreCounted) {  // [MODEL-8]
  for (const char* name : {"resnet-50", "resnext-101-32x4d", "retinanet", "ssd-resnet34",
                           "mask-rcnn", "unet-3d", "rnn-t", "dlrm-dcnv2"}) {
    const Step step = case_of_network(name, 2, 3).lowered();
    const double ran = flops_of(step, Phase::forward, false) +
                       flops_of(step, Phase::backward, false) +
                       flops_of(step, Phase::backward, true);
    // Strided windows of the input's gradient come to whole channels and taps.
    EXPECT_NEAR(2 * ran, step.model_flops_full.value(), 2e-3 * step.model_flops_full.value())
        << name;
  }
}

// 479 features of a click become 480 where kernels are fused, 30,522 words 30,528; a column alone
// stays one.
TEST(Modules, OfVendorsHaveRowsOfWholeLoads) {  // [STEP-29]
  const auto widths = [](const char* model, bool fused) {
    Case c = case_of_network(model, 1, 8);
    c.job.fused = fused;
    std::set<std::int64_t> out;
    const Step step = c.lowered();
    for (const Block& block : step.blocks) {
      for (const Op& op : only<Op>(block.items)) {
        const auto* product = std::get_if<Matmul>(&op.shape);
        if (product == nullptr || op.phase != Phase::forward) continue;
        out.insert(product->n);
        out.insert(product->k);
      }
    }
    return out;
  };
  EXPECT_TRUE(widths("dlrm-v1", true).contains(480));
  EXPECT_FALSE(widths("dlrm-v1", true).contains(479));
  EXPECT_TRUE(widths("dlrm-v1", false).contains(479));
  EXPECT_TRUE(widths("dlrm-v1", true).contains(1));
  EXPECT_TRUE(widths("bert-large", true).contains(30'528));
}

// Three layers of attention in one: a kernel each forward, two each backward.
TEST(Modules, RepeatedAttentionIsIssuedAsOften) {
  Case c = case_of_network("resnet-50", 1, 4);
  const auto document = parse_toml(
      "sample = \"x\"\ninput = [64, 16]\n[[block]]\n"
      "modules = [{ group = [{ residual = [{ attention = 4 }] }], repeat = 3 }]\n",
      "n.toml");
  c.model = model_from_toml(*document, "n").value();
  std::vector<double> kernels;
  const Step step = c.lowered();
  for (const Op& op : only<Op>(step.blocks[0].items)) {
    if (std::holds_alternative<AttentionShape>(op.shape)) kernels.push_back(op.kernels);
  }
  EXPECT_EQ(kernels, std::vector<double>({3, 6}));
}

// What is frozen runs forward alone, and what follows it has no gradient of its input.
TEST(Modules, ThatAreFrozenHaveNoBackwardPass) {  // [STEP-29]
  const Case c = case_of_network("mask-rcnn", 1, 1);
  const Step step = c.lowered();
  for (const Op& op : only<Op>(step.blocks[0].items)) EXPECT_EQ(op.phase, Phase::forward);
  EXPECT_EQ(step.blocks[0].held.trained, 0);
  EXPECT_EQ(step.blocks[0].saved, Bytes(0));
}

// All gradients of ResNet-50's 25,557,032 values are reduced, in 4 bytes.
TEST(Modules, ReduceAllGradientsOverTheCopies) {
  Case c = case_of_network("resnet-50", 8, 4);
  const Step step = c.lowered();
  const auto calls = calls_in(step.stages[0].items);
  EXPECT_NEAR(bytes_of(calls, CollectiveOp::all_reduce, Group::dp), 4 * 25'557'032.0, 1);
}

// DLRM-DCNv2, by its published sizes: 26 sums of 128 values for each sample, there and back;
// indices of 214 rows, where the framework sends them; tables of 204,184,588 x 128 values over all
// ranks.
TEST(Modules, ExchangeWhatSamplesReadOfTables) {  // [STEP-29]
  Case c = case_of_network("dlrm-dcnv2", 8, 1024);
  expect_legal(c);
  const auto exchanged = [&] {
    double out = 0;
    const Step step = c.lowered();
    for (const Block& block : step.blocks) {
      out += bytes_of(calls_in(block.items), CollectiveOp::all_to_all, Group::ep);
    }
    return out;
  };
  const double sums = 2 * 1024.0 * 26 * 128 * 2;
  EXPECT_NEAR(exchanged(), sums, 1);
  c.job.framework = framework_from("torchrec").value();
  EXPECT_NEAR(exchanged(), sums + 1024.0 * 214 * 8, 1);
  const Step step = c.lowered();
  EXPECT_NEAR(step.held.memory.parameters.value(), 4 * (204'184'588.0 * 128 / 8 + 16.04e6), 1e5);
}

// A recurrent layer's steps wait for each other; their weights' gradient is one product of all.
TEST(Modules, GatherTheGradientOfARecurrentWeightInOneProduct) {  // [STEP-29]
  const Case c = case_of_network("rnn-t", 1, 2);
  const Step step = c.lowered();
  double forward = 0, of_weight = 0;
  for (const Op& op : only<Op>(step.blocks[0].items)) {
    const auto* product = std::get_if<Matmul>(&op.shape);
    if (product == nullptr) continue;
    if (op.phase == Phase::forward && product->recurrent) forward += op.times;
    if (op.weight_gradient && product->k == 2 * 410) of_weight += op.times;
  }
  EXPECT_EQ(forward, 2 * 410 + 3 * 205);
  EXPECT_GE(of_weight, 2);
}

TEST(Modules, AreSplitByCopiesAndShardsAlone) {
  Case c = case_of_network("resnet-50", 8, 4);
  c.layout.tp = 2;
  c.layout.dp = 4;
  c.job.global_batch = 16;
  ASSERT_FALSE(check(c).empty());
  EXPECT_EQ(where_text(check(c)[0]), "--tp");
  c = case_of_network("dlrm-dcnv2", 8, 4);
  c.layout.ep = 2;
  ASSERT_FALSE(check(c).empty());
  EXPECT_EQ(where_text(check(c)[0]), "--ep");
  c = case_of_network("vit-l", 8, 4);
  c.layout.zero = 3;
  EXPECT_TRUE(check(c).empty());
}

}  // namespace
}  // namespace headway
