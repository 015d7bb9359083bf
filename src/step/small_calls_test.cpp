// Calls of a few bytes [STEP-21] [STEP-22].
#include <gtest/gtest.h>

#include "step/case_for_test.hpp"

namespace headway::testing {
namespace {

// Bytes of calls of an operation over a group, each as often as it is made in a micro-batch of the
// block or once a step.
std::vector<double> sizes(const std::vector<Call>& calls, CollectiveOp op, Group group,
                          double most = 1e18) {
  std::vector<double> out;
  for (const Call& call : calls) {
    if (call.op != op || call.group != group || call.bytes.value() > most) continue;
    for (double i = 0; i < call.count; ++i) out.push_back(call.bytes.value());
  }
  return out;
}

std::vector<double> sizes(const Step& step, BlockKind kind, CollectiveOp op, Group group,
                          double most = 1e18) {
  for (const Block& block : step.blocks) {
    if (block.kind == kind) return sizes(calls_in(block.items), op, group, most);
  }
  return {};
}

using CallSizes = std::vector<double>;

Case llama(Framework framework, std::int64_t tp, std::int64_t pp = 1) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.framework = framework;
  c.layout = {{.tp = tp, .micro_batch = 2}, {.pp = pp}, {.dp = 4}};
  c.job.global_batch = 4 * 2 * pp;
  return c;
}

// [STEP-21] Ids and positions where the embedding is, labels and mask where the loss is; before
// 2024 all ids in one message after five sizes, at both ends of a pipeline.
TEST(SmallCalls, MegatronPassesABatchOnToTheTensorRanks) {
  const double tokens = 2 * 2048;
  Case c = llama(framework_from("megatron").value(), 4);
  const auto batch = [&](BlockKind kind) {
    expect_legal(c);
    return sizes(c.lowered(), kind, CollectiveOp::broadcast, Group::tp);
  };
  EXPECT_EQ(batch(BlockKind::embedding), (CallSizes{8 * tokens, 8 * tokens}));
  EXPECT_EQ(batch(BlockKind::head), (CallSizes{8 * tokens, 4 * tokens}));
  EXPECT_EQ(batch(BlockKind::layer), CallSizes());
  c.job.software = 2023.5;
  EXPECT_EQ(batch(BlockKind::embedding), (CallSizes{40, 8 * (tokens + 2)}));
  EXPECT_EQ(batch(BlockKind::head), CallSizes());
  c.layout.pp = 2;
  EXPECT_EQ(batch(BlockKind::head), (CallSizes{40, 8 * (tokens + 2)}));
  c.layout.tp = 1;
  EXPECT_EQ(batch(BlockKind::embedding), CallSizes());
  for (const Framework own : {framework_from("fsdp").value(), framework_from("nanotron").value(),
                              framework_from("jax").value()}) {
    c = llama(own, 4);
    EXPECT_EQ(batch(BlockKind::embedding), CallSizes());  // each rank reads its own
  }
}

TEST(SmallCalls, TheLossIsAveragedForTheLog) {  // [STEP-21]
  Case c = llama(framework_from("megatron").value(), 1);
  const auto loss = [&] {
    return sizes(c.lowered(), BlockKind::head, CollectiveOp::all_reduce, Group::dp);
  };
  EXPECT_EQ(loss(), CallSizes{8});  // with the number of tokens
  c.job.software = 2023.5;
  EXPECT_EQ(loss(), CallSizes{4});
  c.layout.dp = 1;
  EXPECT_EQ(loss(), CallSizes());
  c = llama(framework_from("nanotron").value(), 1);
  EXPECT_EQ(loss(), CallSizes());
  EXPECT_EQ(sizes(calls_in(c.lowered().stages.at(0).items), CollectiveOp::all_reduce, Group::dp, 8),
            CallSizes{4});
}

// [STEP-21] The norm is summed over those that hold different gradients: where states are whole the
// ranks of one copy of the model.
TEST(SmallCalls, TheGradientNormIsSummedOverThoseThatHoldDifferentGradients) {
  const auto norm = [](const Case& c, Group group) {
    expect_legal(c);
    return sizes(calls_in(c.lowered().stages.at(0).items), CollectiveOp::all_reduce, group, 4);
  };
  for (const Framework framework :
       {framework_from("megatron").value(), framework_from("fsdp").value(),
        framework_from("deepspeed").value()}) {
    Case c = llama(framework, 2);
    EXPECT_EQ(norm(c, Group::model), CallSizes{4});
    EXPECT_EQ(norm(c, Group::world), CallSizes());
    EXPECT_EQ(norm(c, Group::dp), CallSizes());
    EXPECT_EQ(span_of_group(c.lowered().spans, Group::model).ranks, 2);
    EXPECT_EQ(span_of_group(c.lowered().spans, Group::world).ranks, 8);
    c.layout.zero = 1;
    const bool megatron = framework == framework_from("megatron").value();
    EXPECT_EQ(norm(c, Group::world), megatron ? CallSizes{4} : CallSizes());
    EXPECT_EQ(norm(c, Group::dp), megatron ? CallSizes() : CallSizes{4});
    EXPECT_EQ(norm(c, Group::model), megatron ? CallSizes() : CallSizes{4});
    c.layout.tp = 1;
    EXPECT_EQ(norm(c, Group::model), CallSizes());
    c.job.recipe = recipe_from("fp16");  // besides, whether any gradient overflowed
    const double check = framework == framework_from("deepspeed").value() ? 1 : 4;
    EXPECT_EQ(norm(c, megatron ? Group::world : Group::dp), (CallSizes{check, 4}));
  }
}

// [STEP-21] Norms are whole on every tensor rank, but under sequence parallelism each saw its own
// tokens: 2 norms a layer and the last one, in fp32.
TEST(SmallCalls, GradientsOfNormsAreSummedUnderSequenceParallelism) {
  Case c = llama(framework_from("megatron").value(), 4);
  const auto summed = [&] {
    return sizes(calls_in(c.lowered().stages.at(0).items), CollectiveOp::all_reduce, Group::tp);
  };
  EXPECT_EQ(summed(), CallSizes{4 * (32 * 2 + 1) * 4096});
  c.layout.sequence_parallel = false;
  EXPECT_EQ(summed(), CallSizes());
}

// [STEP-22] nanotron describes each tensor in 7 numbers, then its shape and strides; forward the
// mask of the tokens (a byte each) goes with the activation. The first of two stages sends forward
// only, the last backward only.
TEST(SmallCalls, NanotronDescribesEveryTensorItSends) {
  Case c = llama(framework_from("nanotron").value(), 1, 2);
  c.job.global_batch = 4 * 2 * 8;
  expect_legal(c);
  const Step step = c.lowered();
  const auto count = [&](std::size_t stage, double bytes) {
    return count_of(calls_in(step.stages.at(stage).items), [&](const Call& call) {
      return call.group == Group::pp && call.bytes == Bytes(bytes);
    });
  };
  const double activation = 2 * 2048.0 * 4096 * 2, mask = 2 * 2048;
  EXPECT_EQ(count(0, activation), 8);
  EXPECT_EQ(count(0, mask), 8);
  EXPECT_EQ(count(0, 56), 16);
  EXPECT_EQ(count(0, 48), 8);
  EXPECT_EQ(count(0, 32), 8);
  EXPECT_EQ(count(1, activation), 8);
  EXPECT_EQ(count(1, mask), 0);
  EXPECT_EQ(count(1, 56), 8);
  EXPECT_EQ(count(1, 48), 8);
}

}  // namespace
}  // namespace headway::testing
