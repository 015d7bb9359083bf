// Bytes by kind.
#include <gtest/gtest.h>

#include "step/case_for_test.hpp"
#include "step/forward/forward.hpp"

namespace headway::testing {
namespace {

// [STEP-9] Bytes a parameter of Adam in 16 bit over 8 ranks: weights, gradients, states. Megatron's
// user guide: 18, and 6 + 12/d with the distributed optimiser (fp16: 16, and 4 + 12/d); arXiv
// 1910.02054 figure 1: 16, 4 + 12/d, 2 + 14/d, 16/d.
struct PerParameter {
  Framework framework;
  const char* recipe;
  int zero;
  double weights, gradients, states;
};

TEST(Memory, ZeroShardsWhatItShould) {  // [STEP-9]
  const double d = 8;
  const std::vector<PerParameter> cases = {
      {framework_from("megatron").value(), "bf16", 0, 2, 4, 12},
      {framework_from("megatron").value(), "bf16", 1, 2, 4, 12 / d},
      {framework_from("megatron").value(), "fp16", 0, 2, 2, 12},
      {framework_from("megatron").value(), "fp16", 1, 2, 2, 12 / d},
      {framework_from("megatron").value(), "fp32", 0, 4, 4, 8},
      {framework_from("deepspeed").value(), "bf16", 0, 2, 2, 12},
      {framework_from("deepspeed").value(), "bf16", 1, 2, 2, 12 / d},
      {framework_from("deepspeed").value(), "bf16", 2, 2, 2 / d, 12 / d},
      {framework_from("deepspeed").value(), "bf16", 3, 2 / d, 2 / d, 12 / d},
      {framework_from("fsdp").value(), "bf16", 0, 4, 4, 8},
      {framework_from("fsdp").value(), "bf16", 3, 4 / d, 4 / d, 8 / d},
      {framework_from("fsdp").value(), "fp32", 3, 4 / d, 4 / d, 8 / d},
      {framework_from("fsdp").value(), "bf16", 2, 4 / d, 4 / d,
       8 / d},  // SHARD_GRAD_OP keeps fp32 shards
  };
  for (const PerParameter& expected : cases) {
    Case c = case_of("llama-2-7b");
    c.job.framework = expected.framework;
    c.job.recipe = recipe_from(expected.recipe);
    c.job.global_batch = 8;
    c.layout.dp = 8;
    c.layout.zero = expected.zero;
    const Step step = c.lowered();
    const double p = step.stages[0].parameters;
    const std::string what = std::string(name_of(expected.framework)) + " " + expected.recipe +
                             " zero " + std::to_string(expected.zero);
    EXPECT_NEAR(step.held.memory.parameters.value() / p, expected.weights, 1e-9) << what;
    EXPECT_NEAR(step.held.memory.gradients.value() / p, expected.gradients, 1e-9) << what;
    EXPECT_NEAR(step.held.memory.optimizer.value() / p, expected.states, 1e-9) << what;
  }
}

TEST(Memory, OptimiserStatesFollowTheOptimiser) {  // [STEP-8] [STEP-9]
  const auto states = [](Optimizer optimizer) {
    Case c = case_of("llama-2-7b");
    c.job.framework = framework_from("fsdp").value();
    c.job.optimizer = optimizer;
    const Step step = c.lowered();
    return step.held.memory.optimizer.value() / step.stages[0].parameters;
  };
  EXPECT_DOUBLE_EQ(states(Optimizer::adam), 8);
  EXPECT_DOUBLE_EQ(states(Optimizer::adamw), 8);
  EXPECT_DOUBLE_EQ(states(Optimizer::sgd), 4);
  EXPECT_DOUBLE_EQ(states(Optimizer::muon), 4);
  EXPECT_DOUBLE_EQ(states(Optimizer::adafactor), 0);
  EXPECT_NEAR(states(Optimizer::adam_8bit), 2 + 2 * 4.0 / 256, 0.01);
}

TEST(Memory, OffloadEmptiesWhatItMoves) {  // [STEP-9]
  Case c = case_of("llama-2-7b");
  c.job.framework = framework_from("deepspeed").value();
  c.job.global_batch = 8;
  c.layout.dp = 8;
  c.layout.zero = 3;
  const Memory whole = c.lowered().held.memory;
  Case optimizer = c, parameters = c, activations = c;
  optimizer.layout.offload_optimizer = true;
  parameters.layout.offload_parameters = true;
  activations.layout.offload_activations = true;
  expect_legal(parameters);
  EXPECT_EQ(optimizer.lowered().held.memory.optimizer.value(), 0);
  EXPECT_EQ(optimizer.lowered().held.memory.parameters, whole.parameters);
  EXPECT_EQ(parameters.lowered().held.memory.parameters.value(), 0);
  EXPECT_EQ(parameters.lowered().held.memory.optimizer, whole.optimizer);
  EXPECT_LT(activations.lowered().held.memory.activations, 0.5 * whole.activations);
}

// [STEP-9] Megatron's 8-bit recipes keep two 8-bit copies of a layer's weights (both orientations)
// in place of one of 16 bit, and gradients of 16 bit in place of fp32.
TEST(Memory, MegatronsFp8RecipesHoldTwoBytesOfWeightsAndTwoOfGradients) {
  Case c = case_of("llama-3-8b", "dgx-h100");
  const Memory bf16 = c.lowered().held.memory;
  c.job.recipe = recipe_from("fp8");
  const Memory fp8 = c.lowered().held.memory;
  EXPECT_DOUBLE_EQ(fp8.parameters.value(), bf16.parameters.value());
  EXPECT_DOUBLE_EQ(fp8.gradients.value(), bf16.gradients.value() / 2);
}

TEST(Memory, KeptActivationsStandForEveryMicroBatchInFlight) {  // [STEP-9] [STEP-12]
  Case c = case_of("limits-mlp-12288");                         // equal stages
  const std::int64_t layers = c.model.layers();
  c.job.global_batch = 64;
  c.layout.pp = 4;
  ASSERT_EQ(layers % 4, 0);
  const Step step = c.lowered();
  const Block& layer = step.blocks[0];
  const double kept = static_cast<double>(layers / 4) * layer.saved.value();
  EXPECT_DOUBLE_EQ(step.held.memory.activations.value(), 4 * kept + layer.working.value());
  EXPECT_EQ(step.held.stage, 0);  // the first waits longest for its gradients
  c.layout.schedule = Schedule::gpipe;
  EXPECT_DOUBLE_EQ(c.lowered().held.memory.activations.value(), 64 * kept + layer.working.value());
}

TEST(Documents, AreAsManyEqualOnesAsComeNearestToTheirMean) {
  Job job;
  EXPECT_EQ(documents_in(8192, job), 1);
  const std::vector<std::pair<std::int64_t, std::int64_t>> expected = {
      {1, 8192}, {512, 16}, {4096, 2}, {5000, 2}, {5462, 1}, {8192, 1}, {9000, 1}};
  for (const auto& [mean, number] : expected) {
    job.document = mean;
    EXPECT_EQ(documents_in(8192, job), number) << mean;
  }
}

// [STEP-9] A chunk of four layers computed again at once has all four alive, and keeps one input,
// which is among them, whatever more may be asked for.
TEST(Memory, NoMoreLayersAreComputedAgainAtOnceThanAChunkHas) {
  Case c = case_of("limits-mlp-12288");
  const std::int64_t layers = c.model.layers();
  c.layout.pp = layers / 4;
  const double whole = c.lowered().blocks[0].saved.value();
  c.layout.recompute = Recompute::full;
  for (const std::int64_t every : {4, 5, 1000}) {
    c.layout.recompute_every = every;
    const Step step = c.lowered();
    EXPECT_NEAR(step.held.memory.activations.value(), 4 * whole + step.blocks[0].working.value(),
                1e-9 * whole)
        << every;
  }
  c.layout.recompute_every = 2;
  const double input = 2048.0 * static_cast<double>(c.model.hidden) * 2;
  const Step step = c.lowered();
  EXPECT_NEAR(step.held.memory.activations.value(),
              2 * input + 2 * whole - input + step.blocks[0].working.value(), 1e-9 * whole);
}

// DeepSeek-V3 has 3 dense layers and 58 with experts: all of them at once are no more than that.
TEST(Memory, LayersComputedAgainAtOnceAreThoseThatThereAre) {
  Case c = case_of("deepseek-v3", "dgx-h100");
  const Memory none = c.lowered().held.memory;
  c.layout.recompute = Recompute::full;
  for (const std::int64_t every : {58, 61, 1000}) {
    c.layout.recompute_every = every;
    EXPECT_LE(c.lowered().held.memory.activations, none.activations * (1 + 1e-12)) << every;
  }
}

TEST(Memory, TheWorstStageIsTheOneThatHoldsMost) {  // [STEP-9]
  // Few tokens and a large vocabulary: the last stage's logits outweigh what the first keeps.
  Case c = case_of("gemma-2-9b");  // 256,000 words
  c.layout.pp = 2;
  c.layout.recompute = Recompute::full;
  c.model.tied_embeddings = false;
  EXPECT_EQ(c.lowered().held.stage, 1);
  // Many in flight and no logits to speak of: the first.
  c = case_of("megatron-22b");
  c.job.global_batch = 64;
  c.layout.pp = 8;
  EXPECT_EQ(c.lowered().held.stage, 0);
}

TEST(Memory, TheTotalIsTheSumOfItsKinds) {  // [STEP-9]
  // A power of two each: their sum is 63 only where every kind counts once.
  Memory m;
  m.parameters = Bytes(1);
  m.gradients = Bytes(2);
  m.optimizer = Bytes(4);
  m.activations = Bytes(8);
  m.buffers = Bytes(16);
  m.other = Bytes(32);
  EXPECT_EQ(m.total(), Bytes(63));
}

// [STEP-9] nanotron holds 2 B of weights, 4 of gradients, 12 of states a parameter, and 2 of DDP's
// buckets or of flat weights where ranks share gradients: the allocated memory of its runs, 20 B a
// parameter with ZeRO-0, 8 + 12/d with ZeRO-1, 18 on one rank.
TEST(Memory, NanotronKeepsTwoBytesMoreWhereRanksShareGradients) {
  Case c = case_of("llama-3.2-1b", "dgx-h100");
  c.job.framework = framework_from("nanotron").value();
  c.job.global_batch = 8;
  const auto bytes = [&](std::int64_t dp, int zero) {
    c.layout.dp = dp;
    c.layout.zero = zero;
    expect_legal(c);
    const Step step = c.lowered();
    const Memory& m = step.held.memory;
    return (m.parameters + m.gradients + m.optimizer + m.buffers).value() /
           step.stages.front().parameters;
  };
  EXPECT_DOUBLE_EQ(bytes(1, 0), 18);
  EXPECT_DOUBLE_EQ(bytes(8, 0), 20);
  EXPECT_DOUBLE_EQ(bytes(8, 1), 8 + 12 / 8.0);
}

// [STEP-5] The inputs of the two column-split products, whole instead of a t-th.
TEST(Memory, KeptGatheredInputsStandWhole) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.layout.tp = 8;
  const auto saved = [&] { return c.lowered().blocks.front().saved.value(); };
  const double split = saved();
  c.layout.keep_gathered = true;
  EXPECT_DOUBLE_EQ(saved() - split, 2 * 2048.0 * 4096 * 2 * (1 - 1 / 8.0));
}

// [STEP-9] What lies between each other: the activations of all micro-batches in flight but one.
TEST(Memory, RankZeroAndMicroBatchesInFlightStandApart) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.framework = framework_from("megatron").value();
  c.job.global_batch = 16;
  c.layout.pp = 4;
  expect_legal(c);
  const Step step = c.lowered();
  const double layer = step.blocks.front().saved.value();
  const double table = step.blocks.at(1).saved.value();
  ASSERT_EQ(step.blocks.at(1).kind, BlockKind::embedding);
  EXPECT_DOUBLE_EQ(step.held.first.in_flight.value(), 3 * (8 * layer + table));
  c.layout.pp = 1;
  EXPECT_EQ(c.lowered().held.first.in_flight.value(), 0);
}

}  // namespace
}  // namespace headway::testing
