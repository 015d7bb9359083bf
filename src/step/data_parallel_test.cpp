// What data parallelism sends of gradients and weights, framework by framework.
#include <gtest/gtest.h>

#include "step/case_for_test.hpp"
#include "step/frameworks/habits.hpp"

namespace headway::testing {
namespace {

// [STEP-10] Gradients and weights, P parameters on the rank.
struct Reduced {
  double parameters, all_reduce, reduce_scatter, all_gather;  // bytes in one step
};

Reduced reduced(Framework framework, int zero, const char* recipe = "bf16", bool reshard = true) {
  Case c = case_of("llama-2-7b");
  c.job.framework = framework;
  c.job.global_batch = 8 * 3;  // three micro-batches
  c.job.recipe = recipe_from(recipe);
  c.layout.dp = 8;
  c.layout.zero = zero;
  c.layout.reshard_after_forward = reshard;
  expect_legal(c);
  const Step step = c.lowered();
  EXPECT_EQ(step.stages.size(), 1u);
  const StageClass& stage = step.stages[0];
  std::vector<Call> calls;
  for (Call call : only<Call>(stage.items)) {
    calls.push_back(call);
  }
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    for (Call call : only<Call>(step.blocks[i].items)) {
      call.count *= static_cast<double>(stage.counts[i] * step.micro_batches);
      calls.push_back(call);
    }
  }
  std::erase_if(calls, [](const Call& call) { return call.bytes <= Bytes(8); });  // norm and loss
  const double p = stage.parameters;
  return {p, bytes_of(calls, CollectiveOp::all_reduce, Group::dp) / p,
          bytes_of(calls, CollectiveOp::reduce_scatter, Group::dp) / p,
          bytes_of(calls, CollectiveOp::all_gather, Group::dp) / p};
}

void expect_bytes(const Reduced& got, double all_reduce, double reduce_scatter, double all_gather) {
  EXPECT_NEAR(got.all_reduce, all_reduce, 1e-9);
  EXPECT_NEAR(got.reduce_scatter, reduce_scatter, 1e-9);
  EXPECT_NEAR(got.all_gather, all_gather, 1e-9);
}

TEST(DataParallel, MegatronReducesFp32GradientsAndGathers16BitWeights) {  // [STEP-10]
  expect_bytes(reduced(framework_from("megatron").value(), 0), 4, 0, 0);
  expect_bytes(reduced(framework_from("megatron").value(), 1), 0, 4, 2);
  expect_bytes(reduced(framework_from("megatron").value(), 1, "fp16"), 0, 2, 2);
}

// [STEP-10] arXiv 1910.02054 §7 counts 2m; DeepSpeed sends 3m: it all-reduces, then gathers. Three
// micro-batches: ZeRO-1 reduces once a step, ZeRO-2 after each.
TEST(DataParallel, DeepSpeedAllReducesGradientsAndGathersWeights) {
  expect_bytes(reduced(framework_from("deepspeed").value(), 0), 2, 0, 0);
  expect_bytes(reduced(framework_from("deepspeed").value(), 1), 2, 0, 2);
  expect_bytes(reduced(framework_from("deepspeed").value(), 2), 3 * 2, 0, 2);
}

// [STEP-10] ZeRO-3 gathers weights for the forward and again for the backward pass of each
// micro-batch and reduces its gradients: 3m, arXiv 1910.02054 §7.2.
TEST(DataParallel, Zero3GathersTwiceAndReducesOnceAMicroBatch) {
  expect_bytes(reduced(framework_from("jax").value(), 3), 0, 3 * 2, 3 * 2 * 2);
}

constexpr double kLlamaTable = 32000.0 * 4096, kLlamaLayer = 4 * 4096.0 * 4096 + 3 * 4096.0 * 11008;
constexpr double kLlamaNorms = (32 * 2 + 1) * 4096.0;
constexpr double kLlama = 2 * kLlamaTable + 32 * kLlamaLayer + kLlamaNorms;

// [STEP-19] FSDP does not gather the outermost unit, embedding, head and final norm, again.
TEST(DataParallel, FsdpKeepsItsOutermostUnitGathered) {
  const double outer = (2 * kLlamaTable + 4096) / kLlama;
  expect_bytes(reduced(framework_from("fsdp").value(), 3), 0, 3 * 4, 3 * 2 * (2 - outer));
}

// [STEP-20] DeepSpeed keeps norms, and all within 5e8 parameters of the end of the model: the head,
// the last layer, and of the one before the feed-forward part, the output and the values.
TEST(DataParallel, DeepSpeedKeepsNormsAndTheEndOfTheModel) {
  const double kept = kLlamaTable + kLlamaLayer + 3 * 4096.0 * 11008 + 2 * 4096.0 * 4096;
  const double gathered = 3 * (2 * (kLlama - kLlamaNorms) - kept) + kLlamaNorms;
  expect_bytes(reduced(framework_from("deepspeed").value(), 3), 0, 3 * 2, 2 * gathered / kLlama);
}

TEST(DataParallel, FsdpWithoutReshardingGathersOnceAMicroBatch) {  // [STEP-10]
  expect_bytes(reduced(framework_from("fsdp").value(), 3, "bf16", false), 0, 3 * 4, 3 * 2);
  expect_bytes(reduced(framework_from("fsdp").value(), 2), 0, 3 * 4, 3 * 2);  // SHARD_GRAD_OP
}

TEST(DataParallel, InFp32EverythingTakesFourBytes) {  // [STEP-10]
  for (const Framework framework :
       {framework_from("fsdp").value(), framework_from("deepspeed").value(),
        framework_from("jax").value()}) {
    const Reduced mixed = reduced(framework, 3);
    expect_bytes(reduced(framework, 3, "fp32"), 0, 3 * 4, 2 * mixed.all_gather);
  }
  expect_bytes(reduced(framework_from("deepspeed").value(), 1, "fp32"), 4, 0, 4);
}

TEST(DataParallel, AdaptersAloneAreReduced) {  // [STEP-10] rank · (in + out) for each matrix
  Case c = case_of("llama-2-7b");
  c.job.task = Task::lora;
  c.job.global_batch = 8;
  c.layout.dp = 8;
  const Step step = c.lowered();
  // Matrices of a layer: 4096 → 12288, 4096 → 4096, 4096 → 2·11008, 11008 → 4096.
  const double adapters = 32 * 16.0 * (16384 + 8192 + 26112 + 15104);
  double bytes = 0;
  for (const Call& call : only<Call>(step.stages[0].items)) {
    if (call.phase == Phase::gradient) bytes += call.bytes.value() * call.count;
  }
  EXPECT_NEAR(bytes, 4 * adapters, 1e-6 * bytes);
}

TEST(DataParallel, HybridShardsReduceInsideAndSumAcrossTheReplicas) {  // [STEP-10]
  Case c = case_of("llama-2-7b");
  c.job.framework = framework_from("fsdp").value();
  c.job.global_batch = 64;
  c.layout.dp = 64;
  c.layout.zero = 3;
  c.layout.shard = 8;
  expect_legal(c);
  const Step step = c.lowered();
  const std::vector<Call> calls = calls_in(step.blocks[0].items);
  const double p = step.blocks[0].held.dense;
  EXPECT_DOUBLE_EQ(bytes_of(calls, CollectiveOp::reduce_scatter, Group::dp), 4 * p);
  EXPECT_DOUBLE_EQ(bytes_of(calls, CollectiveOp::all_reduce, Group::dp_replica), 4 * p / 8);
  EXPECT_EQ(span_of_group(step.spans, Group::dp).ranks, 8);
  EXPECT_EQ(span_of_group(step.spans, Group::dp_replica).ranks, 8);
}

TEST(DataParallel, ExpertsAreReducedOverTheirOwnReplicas) {  // [STEP-10]
  Case c = case_of("mixtral-8x7b");
  c.job.global_batch = 16;
  c.layout = {{.ep = 8}, {}, {.dp = 16, .zero = 1}};
  const Step step = c.lowered();
  double experts = 0, dense = 0;
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    experts += static_cast<double>(step.stages[0].counts[i]) * step.blocks[i].held.experts;
    dense += static_cast<double>(step.stages[0].counts[i]) * step.blocks[i].held.dense;
  }
  const std::vector<Call> calls = calls_in(step.stages[0].items);
  EXPECT_NEAR(bytes_of(calls, CollectiveOp::reduce_scatter, Group::expert_dp), 4 * experts, 1);
  EXPECT_NEAR(bytes_of(calls, CollectiveOp::reduce_scatter, Group::dp), 4 * dense, 1);
  EXPECT_EQ(span_of_group(step.spans, Group::expert_dp).ranks, 2);
}

// [STEP-10] nanotron, ZeRO-1 over 8 ranks: one reduce-scatter of 4 B a parameter and one all-gather
// of 2 B, none of them hidden; the host cuts each of the 32·(4 matrices + 2 norms), table, head and
// final norm into 8 pieces.
TEST(DataParallel, NanotronsZero1SendsEverythingAtOnce) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.framework = framework_from("nanotron").value();
  c.job.global_batch = 8;
  c.layout.dp = 8;
  c.layout.zero = 1;
  expect_legal(c);
  const StageClass stage = c.lowered().stages.front();
  const double held = stage.parameters;
  for (const auto& [op, bytes] :
       {std::pair{CollectiveOp::reduce_scatter, 4.0}, {CollectiveOp::all_gather, 2.0}}) {
    const auto wanted = [op = op](const Call& call) { return call.op == op; };
    EXPECT_EQ(count_of(calls_in(stage.items), wanted), 1);
    EXPECT_DOUBLE_EQ(bytes_of(calls_in(stage.items), wanted), bytes * held);
    for (const Call& call : only<Call>(stage.items)) {
      EXPECT_TRUE(!wanted(call) || call.hidden_by == HiddenBy::nothing);
    }
  }
  const double matrices = static_cast<double>(linears(c.model.kinds.front(), 4096).size);
  EXPECT_EQ(stage.pieces, (32 * (matrices + 2) + 3) * 8);
  c.layout.zero = 0;
  EXPECT_EQ(c.lowered().stages.front().pieces, 0);
}

// [STEP-18] A bucket holds whole tensors, from the last to the first: head with final norm, then
// down, up, gate, output, values, keys, queries and table are each larger than what is left of one.
TEST(DataParallel, ABucketHoldsWholeTensors) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.framework = framework_from("fsdp").value();  // buckets of 25 MiB
  c.model.pattern.resize(1);
  c.job.global_batch = 8;
  c.layout.dp = 8;
  c.layout.zero = 0;
  expect_legal(c);
  const Step step = c.lowered();
  const std::vector<Call> calls = calls_in(step.stages.front().items);
  const auto gradients = [](const Call& call) { return call.phase == Phase::gradient; };
  EXPECT_EQ(count_of(calls, gradients), 9);
  EXPECT_DOUBLE_EQ(bytes_of(calls, gradients), 4 * (2 * kLlamaTable + kLlamaLayer + 3 * 4096));
}

// [STEP-18] Megatron's buckets close with the tensor that makes 40 M parameters, 1 M for each rank
// where that is more; of later stages and chunks each is one call, and so is everything where
// nothing overlaps. tp 1: a layer's tensors are 45.1 (down), 90.2 (gate and up), 16.8
// (output), 50.3 (queries, keys, values) M.
TEST(DataParallel, MegatronCutsTheFirstChunkOfTheFirstStageAlone) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.global_batch = 64;
  c.layout.dp = 8;
  c.layout.zero = 1;
  const auto reduces = [](const Call& call) { return call.op == CollectiveOp::reduce_scatter; };
  const auto calls = [&](std::size_t stage) {
    expect_legal(c);
    return count_of(calls_in(c.lowered().stages.at(stage).items), reduces);
  };
  // Head, down, gate and up; then output with the norm and queries: three a layer; the table.
  EXPECT_EQ(calls(0), 1 + 32 * 3 + 1);
  c.layout.overlap_gradients = Choice::off;
  EXPECT_EQ(calls(0), 1);
  c.layout.overlap_gradients = Choice::framework;
  c.layout.pp = 4;
  EXPECT_EQ(calls(0), 8 * 3 + 1);
  EXPECT_EQ(calls(1), 1);
  EXPECT_EQ(calls(2), 1);
  c.layout.vpp = 2;
  EXPECT_EQ(calls(0), 1 + 4 * 3 + 1);
  EXPECT_EQ(calls(1), 2);
  c.layout.pp = c.layout.vpp = 1;
  c.layout.dp = 256;  // 256 M parameters: a bucket holds more than a layer
  c.job.global_batch = 256;
  EXPECT_LT(calls(0), 32);
}

// [STEP-10] [STEP-18] However weights are cut, in a step every trained parameter is reduced once,
// and at ZeRO-1 gathered once.
TEST(DataParallel, EveryParameterIsReducedOnceAndGatheredOnceHoweverItIsCut) {
  for (const char* model :
       {"llama-2-7b", "gpt3-13b", "mixtral-8x7b", "deepseek-v2-lite", "opt-350m", "qwen2-7b"}) {
    for (std::size_t framework = 0; framework < framework_names().size(); ++framework) {
      for (const int zero : {0, 1}) {
        for (const std::int64_t pp : {1, 3}) {
          Case c = case_of(model, "dgx-h100");
          c.job.framework = static_cast<Framework>(framework);
          c.job.global_batch = 32 * pp;
          c.layout = {
              {.tp = 2, .ep = c.model.kinds.back().experts ? 4 : 1}, {.pp = pp}, {.dp = 16}};
          c.layout.zero = zero;
          const Step step = c.lowered();
          for (const StageClass& stage : step.stages) {
            double reduced = 0, gathered = 0;
            for (const Call& call : only<Call>(stage.items)) {
              const bool weights = call.group == Group::dp || call.group == Group::expert_dp;
              if (!weights || call.bytes <= Bytes(8)) continue;
              const double bytes = call.bytes.value() * call.count;
              (call.op == CollectiveOp::all_gather ? gathered : reduced) += bytes;
            }
            const double p = stage.parameters;
            const std::string where =
                std::string(model) + " " + std::string(framework_names()[framework]);
            EXPECT_NEAR(reduced, p * reduced_bytes(c.job).value(), 1e-9 * p) << where;
            EXPECT_NEAR(gathered, zero == 0 ? 0 : p * 2, 1e-9 * p) << where;
          }
        }
      }
    }
  }
}

// [STEP-10] [STEP-20] DeepSpeed's ZeRO-3 with nothing to keep: forward 2·P, backward 2·P.
TEST(DataParallel, FetchesAndUnitsCarryEveryParameterForwardAndBackward) {
  Case c = case_of("llama-2-70b", "dgx-h100");
  c.job.global_batch = 64;
  c.layout = {{}, {}, {.dp = 64, .zero = 3}};
  for (const Framework framework :
       {framework_from("deepspeed").value(), framework_from("fsdp").value(),
        framework_from("jax").value()}) {
    c.job.framework = framework;
    const Step step = c.lowered();
    double forward = 0, backward = 0, reduced = 0, outside = 0;
    for (std::size_t i = 0; i < step.blocks.size(); ++i) {
      const Block& block = step.blocks[i];
      const auto count = static_cast<double>(step.stages.at(0).counts[i]);
      const auto is = [](CollectiveOp op, Phase phase) {
        return [=](const Call& call) { return call.op == op && call.phase == phase; };
      };
      forward +=
          count * bytes_of(calls_in(block.items), is(CollectiveOp::all_gather, Phase::forward));
      backward +=
          count * bytes_of(calls_in(block.items), is(CollectiveOp::all_gather, Phase::backward));
      reduced += count *
                 bytes_of(calls_in(block.items), is(CollectiveOp::reduce_scatter, Phase::backward));
      if (block.kind != BlockKind::layer) outside += block.held.dense;
    }
    const double p = step.stages.at(0).parameters, norms = (80 * 2 + 1) * 8192.0;
    const bool fetches = framework == framework_from("deepspeed").value();
    EXPECT_NEAR(forward, 2 * (p - (fetches ? norms : 0)), 1e-9 * p) << name_of(framework);
    EXPECT_NEAR(reduced, reduced_bytes(c.job).value() * p, 1e-9 * p) << name_of(framework);
    if (framework == framework_from("jax").value()) {
      EXPECT_NEAR(backward, 2 * p, 1e-9 * p);
    }
    if (framework == framework_from("fsdp").value()) {
      EXPECT_NEAR(backward, 2 * (p - outside), 1e-9 * p);
    }
    // Between 5e8 parameters and one tensor more are kept.
    if (fetches) {
      EXPECT_LT(backward, forward - 2 * 5e8 + 2 * norms);
      EXPECT_GT(backward, forward - 2 * (5e8 + 8192.0 * 28672));
    }
  }
}

TEST(DataParallel, WhatIsFetchedAheadIsHiddenUnlessTheLayoutSaysOtherwise) {  // [STEP-20]
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.framework = framework_from("deepspeed").value();
  c.job.global_batch = 8;
  c.layout = {{}, {}, {.dp = 8, .zero = 3}};
  const auto hidden = [&] {
    const Step step = c.lowered();
    return count_of(calls_in(step.blocks.at(0).items), [](const Call& call) {
      return call.op == CollectiveOp::all_gather && call.hidden_by == HiddenBy::next_block;
    });
  };
  EXPECT_GT(hidden(), 0);
  c.layout.overlap_parameters = Choice::off;
  EXPECT_EQ(hidden(), 0);
}

}  // namespace
}  // namespace headway::testing
