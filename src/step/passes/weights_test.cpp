// The tensors of blocks, and the buckets they are put into.
#include "step/passes/weights.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "step/case_for_test.hpp"
#include "step/passes/buckets.hpp"

namespace headway::testing {
namespace {

std::vector<double> flat(const TensorRuns& runs) {
  std::vector<double> out;
  for (const TensorRun& run : runs) {
    for (double i = 0; i < run.count; ++i) out.push_back(run.elements);
  }
  return out;
}

TEST(Weights, OfALlamaLayerAreNineTensorsApartAndSixJoined) {  // [STEP-17]
  Case c = case_of("llama-2-7b");
  const double h = 4096, f = 11008;
  c.job.framework = framework_from("deepspeed").value();
  const Share apart(c.model, c.job, c.layout);
  const Block layer = c.lowered().blocks[0];
  EXPECT_EQ(flat(weights_of(apart, layer, &c.model.kinds[0]).dense),
            (std::vector{h, h * h, h * h, h * h, h * h, h, h * f, h * f, f * h}));
  c.job.framework = framework_from("megatron").value();
  c.layout.tp = 2;
  const Share joined(c.model, c.job, c.layout);
  const Block half = c.lowered().blocks[0];
  EXPECT_EQ(flat(weights_of(joined, half, &c.model.kinds[0]).dense),
            (std::vector{h, 3 * h * h / 2, h * h / 2, h, h * f, f * h / 2}));
}

// [STEP-17] Nothing is lost: the tensors of a block have its parameters, whatever the model.
TEST(Weights, HaveTheParametersOfTheirBlock) {
  for (const char* model :
       {"gpt3-13b", "gpt-neox-20b", "opt-350m", "bloom-176b", "mpt-7b", "gemma-2-9b", "qwen2-7b",
        "qwen3-30b-a3b", "mixtral-8x7b", "deepseek-v3", "gpt-oss-20b", "limits-mlp-12288",
        "falcon-7b", "starcoder2-3b", "llama-4-scout", "qwen1.5-moe-a2.7b"}) {
    for (const Framework framework :
         {framework_from("megatron").value(), framework_from("fsdp").value()}) {
      for (const Task task : {Task::pretrain, Task::lora}) {
        Case c = case_of(model);
        c.job.framework = framework;
        c.job.task = task;
        c.layout.ep = c.model.kinds.back().experts ? 2 : 1;
        c.layout.dp = c.layout.ep;
        c.job.global_batch = c.layout.dp;
        const Share share(c.model, c.job, c.layout);
        const std::vector<Block> blocks = c.lowered().blocks;
        const std::vector<Weights> weights = weights_of(share, blocks);
        for (std::size_t i = 0; i < blocks.size(); ++i) {
          const HeldParameters& held = blocks[i].held;
          EXPECT_NEAR(weights[i].dense.elements(), held.dense * held.trained, 0.5) << model << i;
          EXPECT_NEAR(weights[i].experts.elements(), held.experts * held.trained,
                      1e-9 * held.experts + 0.5)
              << model << i;
        }
      }
    }
  }
}

// Tensor by tensor, by the letter of the rule.
std::vector<double> filled_one_by_one(const std::vector<double>& tensors, double limit,
                                      Closing closing, double first) {
  std::vector<double> out;
  double open = 0, now = first > 0 ? first : limit;
  const auto close = [&] {
    if (open > 0) out.push_back(open);
    open = 0;
    now = limit;
  };
  for (const double tensor : tensors) {
    if (closing == Closing::before && open > 0 && open + tensor > now) close();
    open += tensor;
    if (closing == Closing::reached && open >= now) close();
  }
  close();
  return out;
}

// [STEP-18] Runs and layers are filled in one go; the outcome is that of one tensor at a time.
TEST(Buckets, OfRunsAndLayersAreThoseOfOneTensorAtATime) {
  std::mt19937 random(7);
  const auto among = [&](int most) {
    return 1 + static_cast<int>(random() % static_cast<unsigned>(most));
  };
  int told_apart = 0;
  for (int round = 0; round < 2000; ++round) {
    TensorRuns layer;
    const int runs = among(5);
    for (int i = 0; i < runs; ++i) layer.add(among(40), among(6));
    const int layers = among(80);
    const double limit = among(400), first = random() % 2 == 0 ? 0 : among(30);
    const Closing closing = random() % 2 == 0 ? Closing::reached : Closing::before;
    const std::vector<double> one = flat(layer);
    std::vector<double> all;
    for (int i = 0; i < layers; ++i) all.insert(all.end(), one.rbegin(), one.rend());
    const std::vector<double> expected = filled_one_by_one(all, limit, closing, first);

    BucketFiller filler(limit, closing, first);
    filler.add_layers(layer, layers);
    const BucketSizes& sizes = filler.finish();
    EXPECT_EQ(sizes.count(), static_cast<double>(expected.size())) << round;
    EXPECT_NEAR(sizes.elements(), layer.elements() * layers, 1e-6) << round;
    if (sizes.size() == kMostBucketSizes) continue;  // some may be means
    ++told_apart;
    for (const Bucket& bucket : sizes) {
      EXPECT_EQ(bucket.count,
                static_cast<double>(std::count(expected.begin(), expected.end(), bucket.elements)))
          << round;
    }
  }
  EXPECT_GT(told_apart, 500);
}

TEST(Buckets, WithoutALimitAreOne) {  // [STEP-18]
  BucketFiller filler(0, Closing::before);
  filler.add(3, 5);
  filler.add(4);
  const BucketSizes& sizes = filler.finish();
  ASSERT_EQ(sizes.size(), 1);
  EXPECT_EQ(sizes[0].elements, 19);
  EXPECT_EQ(sizes[0].count, 1);
}

// DDP: 1 MiB, so that the first call begins early, then 25 MiB.
TEST(Buckets, TheFirstMayHaveALimitOfItsOwn) {  // [STEP-18]
  BucketFiller filler(25, Closing::reached, 1);
  for (int i = 0; i < 6; ++i) filler.add(10);
  const BucketSizes& sizes = filler.finish();
  ASSERT_EQ(sizes.size(), 3);
  EXPECT_EQ(sizes[0].elements, 10);
  EXPECT_EQ(sizes[1].elements, 30);
  EXPECT_EQ(sizes[2].elements, 20);
}

}  // namespace
}  // namespace headway::testing
