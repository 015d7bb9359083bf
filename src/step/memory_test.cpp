// Parameters held, bytes by kind, micro-batches in flight, the optimiser's traffic.
#include <gtest/gtest.h>

#include "step/block_builder.hpp"
#include "step/case_for_test.hpp"
#include "step/schedule/in_flight_for_test.hpp"

namespace headway::testing {
namespace {

double held_by_all_stages(const Case& c) {
  double out = 0;
  for (const StageClass& stage : c.lowered().stages) {
    out += static_cast<double>(stage.stages) * stage.parameters;
  }
  return out;
}

TEST(Held, OneRankHoldsEveryParameterOfEveryBuiltInModel) {
  for (const std::string& name : model_names()) {
    Case c = case_of(name);
    c.job.framework = framework_from("fsdp").value();  // does not pad the vocabulary
    const Parameters all = parameters(c.model);
    EXPECT_DOUBLE_EQ(held_by_all_stages(c), static_cast<double>(all.total + all.prediction))
        << name;
  }
}

TEST(Held, StagesHoldEveryParameterOnceAndTiedTablesTwice) {
  for (const char* name : {"llama-2-7b", "megatron-22b", "deepseek-v3"}) {
    Case c = case_of(name, "dgx-h100");
    c.job.framework = framework_from("nanotron").value();
    c.layout.pp = 4;
    const Parameters all = parameters(c.model);
    const double twice =
        c.model.tied_embeddings ? static_cast<double>(c.model.vocabulary * c.model.hidden) : 0;
    EXPECT_DOUBLE_EQ(held_by_all_stages(c), static_cast<double>(all.total + all.prediction) + twice)
        << name;
  }
}

TEST(Held, PaddingAddsRowsOfTheVocabulary) {
  Case c = case_of("gpt2-xl");  // 50,257 rows of 1,600, tied
  const double total = static_cast<double>(parameters(c.model).total);
  EXPECT_DOUBLE_EQ(held_by_all_stages(c), total + 1600.0 * (50304 - 50257));
}

TEST(Held, TensorRanksShareMatricesAndRepeatNorms) {
  Case c = case_of("llama-2-7b");
  c.job.framework = framework_from("fsdp").value();
  c.layout.tp = 8;
  const double total = static_cast<double>(parameters(c.model).total);
  const double norms = 65 * 4096;  // two a layer and the final one
  EXPECT_DOUBLE_EQ(8 * held_by_all_stages(c), total + 7 * norms);
}

TEST(Held, ExpertRanksShareTheExperts) {
  Case whole = case_of("mixtral-8x7b");
  whole.job.global_batch = 8;
  whole.layout.dp = 8;
  Case split = whole;
  split.layout.ep = 4;
  const HeldParameters one = whole.lowered().blocks[0].held;
  const HeldParameters part = split.lowered().blocks[0].held;
  EXPECT_DOUBLE_EQ(part.experts, one.experts / 4);
  EXPECT_DOUBLE_EQ(part.dense, one.dense);
  split.layout.etp = 2;
  EXPECT_DOUBLE_EQ(split.lowered().blocks[0].held.experts, one.experts / 8);
}

TEST(Held, AdaptersAloneAreTrained) {
  Case c = case_of("llama-2-7b");
  c.job.task = Task::lora;
  c.job.lora_rank = 8;
  const Step step = c.lowered();
  const HeldParameters& layer = step.blocks[0].held;
  EXPECT_NEAR(layer.trained * layer.dense, 8.0 * (16384 + 8192 + 26112 + 15104), 1e-3);
  for (const Block& block : step.blocks) {
    if (block.kind != BlockKind::layer) {
      EXPECT_EQ(block.held.trained, 0);
    }
  }
}

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

// [STEP-12] In micro-batches of the stage's own layers. 1F1B: pp - stage, at most m (arXiv
// 2104.04473 §2.2); interleaved: pp + (pp - 1)/vpp on the first stage (2205.05198 §4.2.3 for L/p
// layers); GPipe all; ZB-H1 pp (2401.10241); DualPipe pp + 1 (2412.19437 table 2).
TEST(InFlight, FollowsTheSchedule) {
  Layout layout;
  EXPECT_EQ(in_flight(layout, 0, 100), 1);
  layout.pp = 8;
  for (std::int64_t stage = 0; stage < 8; ++stage) {
    EXPECT_EQ(in_flight(layout, stage, 100), 8 - stage);
    EXPECT_EQ(in_flight(layout, stage, 3), std::min<std::int64_t>(3, 8 - stage));
  }
  for (layout.vpp = 2; layout.vpp <= 6; ++layout.vpp) {
    EXPECT_DOUBLE_EQ(in_flight(layout, 0, 100), 8 + 7.0 / static_cast<double>(layout.vpp));
    EXPECT_LE(in_flight(layout, 0, 4), 4);
  }
  layout.vpp = 1;
  layout.schedule = Schedule::gpipe;
  EXPECT_EQ(in_flight(layout, 5, 100), 100);
  layout.schedule = Schedule::zero_bubble;
  EXPECT_EQ(in_flight(layout, 0, 100), 8);
  layout.schedule = Schedule::zero_bubble_v;
  EXPECT_EQ(in_flight(layout, 0, 100), 8);
}

// [STEP-12] The closed forms are what the orders come to, in units of all that a rank holds.
TEST(InFlight, IsWhatTheOrderKeeps) {
  for (std::size_t s = 0; s < kScheduleNames.size(); ++s) {
    Layout layout;
    layout.schedule = static_cast<Schedule>(s);
    for (layout.pp = 2; layout.pp <= 8; layout.pp += 2) {
      for (layout.vpp = 1; layout.vpp <= (takes_virtual_stages(layout.schedule) ? 3 : 1);
           ++layout.vpp) {
        for (std::int64_t m = 2 * layout.pp; m <= 4 * layout.pp; m += layout.pp) {
          const Pipeline pipeline = pipeline_of(layout, m);
          const auto chunks = static_cast<std::size_t>(pipeline.chunks());
          for (std::int64_t rank = 0; rank < layout.pp; ++rank) {
            EXPECT_DOUBLE_EQ(in_flight(layout, rank, m),
                             testing::most_in_flight(rank_order(pipeline, rank),
                                                     std::vector<double>(chunks, 1)) /
                                 static_cast<double>(chunks))
                << kScheduleNames[s] << " pp " << layout.pp << " m " << m << " rank " << rank;
          }
        }
      }
    }
  }
}

// [STEP-9], [STEP-12] arXiv 2412.19437 table 2: twice the parameters of 1F1B, and p + 1
// micro-batches in flight of a stage each, where 1F1B's first rank has p: a micro-batch goes
// through one of the two stages that a rank holds.
TEST(DualPipe, HoldsTwoStagesAndOneMicroBatchMore) {
  Case c = case_of("limits-mlp-12288");
  c.job.global_batch = 64;
  c.layout.pp = 4;
  const auto kept = [&] {  // by the micro-batches in flight beyond the one in work
    const Memory held = c.lowered().held.memory;
    return std::pair(held.in_flight.value(), held.optimizer.value());
  };
  const auto [of_three, states] = kept();
  c.layout.schedule = Schedule::dual_pipe;
  const auto [of_dual, states_twice] = kept();
  // 4 - 1 of a stage; (5 - 2) of a stage, one in work in each of two.
  EXPECT_DOUBLE_EQ(of_dual, of_three);
  EXPECT_DOUBLE_EQ(states_twice, 2 * states);
}

// [STEP-10] Of the gradients of its two stages ZeRO-1 leaves half to each of two ranks: that much
// is added to what the other copy's rank has of them.
TEST(DualPipe, AddsTheGradientsOfBothCopies) {
  Case c = case_of("limits-mlp-12288");
  c.job.global_batch = 64;
  c.layout.pp = 4;
  c.layout.dp = 2;
  c.layout.zero = 1;
  c.layout.schedule = Schedule::dual_pipe;
  const Step step = c.lowered();
  for (const StageClass& stage : step.stages) {
    double added = 0, reduced = 0;
    for (const Call& call : stage.calls) {
      if (call.group == Group::copies) added += call.bytes.value() * call.count;
      if (call.group == Group::dp && call.phase == Phase::gradient) {
        reduced += call.bytes.value() * call.count;
      }
    }
    EXPECT_GT(added, 0);
    EXPECT_NEAR(added, reduced / 2, 1e-9 * added);
  }
}

TEST(DualPipe, HoldsTheParametersTwice) {  // [STEP-9] arXiv 2412.19437 table 2
  Case c = case_of("limits-mlp-12288");
  c.job.global_batch = 64;
  c.layout.pp = 4;
  const double once = c.lowered().held.memory.parameters.value();
  c.layout.schedule = Schedule::dual_pipe;
  EXPECT_DOUBLE_EQ(c.lowered().held.memory.parameters.value(), 2 * once);
}

// [STEP-8] Bytes that the update moves.
double optimizer_bytes(const Case& c) {
  double out = 0;
  const Step step = c.lowered();
  for (const Op& op : step.stages[0].ops) {
    if (const auto* pass = std::get_if<Pass>(&op.shape)) out += pass->moved.value();
  }
  return out;
}

TEST(OptimizerPass, ReadsAndWritesAtLeastGradientWeightAndStates) {  // [STEP-8]
  Case c = case_of("llama-2-7b");
  c.job.global_batch = 8;
  c.layout.dp = 8;
  const double p = c.lowered().stages[0].parameters;
  const double adam = optimizer_bytes(c) / p;
  EXPECT_GE(adam, 4 + 2 * 4 + 2 * 8);  // gradient read; fp32 weight and two moments both ways
  EXPECT_LE(adam, 100);
  c.job.optimizer = Optimizer::sgd;
  EXPECT_NEAR(adam - optimizer_bytes(c) / p, 2 * 4, 1e-9);  // one moment fewer, read and written
  c.job.optimizer = Optimizer::adamw;
  c.layout.zero = 1;
  EXPECT_NEAR(optimizer_bytes(c) / p, adam / 8, 1e-9);
  c.layout.shard = 4;
  EXPECT_NEAR(optimizer_bytes(c) / p, adam / 4, 1e-9);
}

TEST(OptimizerPass, MuonAddsProductsThatItsRanksShare) {  // [STEP-8]
  Case c = case_of("llama-2-7b");
  c.job.optimizer = Optimizer::muon;
  double flops = 0;
  const Step step = c.lowered();
  for (const Op& op : step.stages[0].ops) flops += work(op).value();
  // Five iterations on each matrix [small, large]: X·Xᵀ and (..)·X of 2·small²·large each, and a
  // square product of 2·small³.
  double expected = 0;
  const double pairs[4][2] = {{4096, 12288}, {4096, 4096}, {4096, 22016}, {4096, 11008}};
  for (const auto& [small, large] : pairs) {
    expected += 32 * 5 * (2 * 2 * small * small * large + 2 * small * small * small);
  }
  EXPECT_NEAR(flops / expected, 1, 1e-12);
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
