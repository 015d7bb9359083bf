// Which messages of which size a step sends, form by form of parallelism.
#include <gtest/gtest.h>

#include "step/block_builder.hpp"
#include "step/test_case.hpp"

namespace headway::testing {
namespace {

Case gpt_22b(std::int64_t tp) {
  Case c = case_of("megatron-22b");
  c.job.global_batch = 4;
  c.layout.tp = tp;
  c.layout.micro_batch = 4;
  return c;
}

constexpr double kActivation = 4 * 2048.0 * 6144 * 2;  // b·s·h in 16 bit

std::vector<Call> calls_of(const Case& c, BlockKind kind) {
  expect_legal(c);
  for (const Block& block : c.lowered().blocks) {
    if (block.kind == kind) return block.calls;
  }
  return {};
}

auto is(CollectiveOp op, Group group, Phase phase) {
  return [=](const Call& c) { return c.op == op && c.group == group && c.phase == phase; };
}

// [STEP-2] arXiv 1909.08053 §3: two all-reduces of b·s·h forward and two backward in each layer.
TEST(TensorParallel, AllReducesFourActivationsALayer) {
  Case c = gpt_22b(8);
  c.layout.sequence_parallel = false;
  const std::vector<Call> calls = calls_of(c, BlockKind::layer);
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    const auto reduces = is(CollectiveOp::all_reduce, Group::tp, phase);
    EXPECT_EQ(count_of(calls, reduces), 2);
    EXPECT_DOUBLE_EQ(bytes_of(calls, reduces), 2 * kActivation);
  }
  EXPECT_EQ(count_of(calls, [](const Call&) { return true; }), 4);
  c.layout.recompute = Recompute::full;  // the forward pass and its calls run once more
  const std::vector<Call> again = calls_of(c, BlockKind::layer);
  EXPECT_EQ(count_of(again, is(CollectiveOp::all_reduce, Group::tp, Phase::recompute)), 2);
  EXPECT_EQ(count_of(again, [](const Call&) { return true; }), 6);
}

// [STEP-2] arXiv 2205.05198 §4.2.2: an all-reduce is a reduce-scatter and an all-gather, so as many
// bytes pass; the two kept inputs are gathered once more for the weight gradients.
TEST(TensorParallel, UnderSequenceParallelismAsManyBytesAndTwoGathersMore) {
  const std::vector<Call> calls = calls_of(gpt_22b(8), BlockKind::layer);
  const auto bytes = [&](CollectiveOp op, Phase phase) {
    return bytes_of(calls, is(op, Group::tp, phase)) / kActivation;
  };
  EXPECT_DOUBLE_EQ(bytes(CollectiveOp::reduce_scatter, Phase::forward), 2);
  EXPECT_DOUBLE_EQ(bytes(CollectiveOp::all_gather, Phase::forward), 2);
  EXPECT_DOUBLE_EQ(bytes(CollectiveOp::reduce_scatter, Phase::backward), 2);
  EXPECT_DOUBLE_EQ(bytes(CollectiveOp::all_gather, Phase::backward), 2 + 2);
  EXPECT_EQ(count_of(calls, [](const Call& c) { return c.op == CollectiveOp::all_reduce; }), 0);
}

TEST(TensorParallel, OfOneRankSaysNothing) {  // [STEP-2]
  for (const BlockKind kind : {BlockKind::layer, BlockKind::embedding, BlockKind::head}) {
    EXPECT_TRUE(calls_of(gpt_22b(1), kind).empty());
  }
}

TEST(TensorParallel, AParallelLayerHasOneEntryAndOneExit) {  // [STEP-2]
  Case c = case_of("gpt-neox-20b");
  c.layout.tp = 8;
  c.layout.sequence_parallel = false;
  EXPECT_EQ(count_of(calls_of(c, BlockKind::layer), [](const Call&) { return true; }), 2);
}

TEST(TensorParallel, TheLossReducesThreeNumbersAToken) {  // [STEP-2] [STEP-7]
  const std::vector<Call> calls = calls_of(gpt_22b(8), BlockKind::head);
  const auto reduces = is(CollectiveOp::all_reduce, Group::tp, Phase::forward);
  EXPECT_EQ(count_of(calls, reduces), 3);
  EXPECT_DOUBLE_EQ(bytes_of(calls, reduces), 3 * 4 * 2048 * 4.0);
}

// [STEP-3] arXiv 2310.01889: cp - 1 passes of a rank's keys and values, and of their gradients.
TEST(ContextParallel, ARingPassesKeysAndValuesOn) {
  Case c = case_of("llama-3-70b");
  c.job.sequence = 8192;
  c.layout.cp = 4;
  c.layout.tp = 2;
  const std::vector<Call> calls = calls_of(c, BlockKind::layer);
  const auto pass = [](Phase phase) { return is(CollectiveOp::send_receive, Group::cp, phase); };
  const double keys_and_values = 8192.0 / 4 * (2 * 8 / 2 * 128) * 2;  // 8 heads of 128, tp 2
  EXPECT_EQ(count_of(calls, pass(Phase::forward)), 3);
  EXPECT_DOUBLE_EQ(bytes_of(calls, pass(Phase::forward)), 3 * keys_and_values);
  EXPECT_DOUBLE_EQ(bytes_of(calls, pass(Phase::backward)), 2 * 3 * keys_and_values);
}

// [STEP-4] arXiv 2309.14509 §3: Q, K, V in and the result out, 4·N·h/P a rank forward (multi-head).
TEST(ContextParallel, UlyssesExchangesFourActivationsEachWay) {
  Case c = case_of("llama-2-7b");
  c.layout.cp = 4;
  c.layout.context_exchange = ContextExchange::all_to_all;
  const std::vector<Call> calls = calls_of(c, BlockKind::layer);
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    EXPECT_DOUBLE_EQ(bytes_of(calls, is(CollectiveOp::all_to_all, Group::cp, phase)),
                     4 * 2048.0 * 4096 / 4 * 2);
  }
}

// [STEP-6] Each rank sends its tokens to their active experts and gets them back.
TEST(ExpertParallel, SendsEachTokenToItsExpertsAndBackBothWays) {
  Case c = case_of("mixtral-8x7b");  // hidden 4096, 2 of 8 experts
  c.job.global_batch = 8;
  c.layout = {.dp = 8, .ep = 8};
  const auto exchanges = [](Phase phase) { return is(CollectiveOp::all_to_all, Group::ep, phase); };
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    const std::vector<Call> calls = calls_of(c, BlockKind::layer);
    EXPECT_EQ(count_of(calls, exchanges(phase)), 2);
    EXPECT_DOUBLE_EQ(bytes_of(calls, exchanges(phase)), 2 * 2048.0 * 2 * 4096 * 2);
  }
  // Under sequence parallelism each rank routes a tp-th of the tokens.
  c.layout = {.dp = 2, .tp = 4, .ep = 8};
  EXPECT_DOUBLE_EQ(bytes_of(calls_of(c, BlockKind::layer), exchanges(Phase::forward)),
                   2 * 2048.0 / 4 * 2 * 4096 * 2);
  c.layout = {.dp = 8};
  EXPECT_EQ(count_of(calls_of(c, BlockKind::layer), exchanges(Phase::forward)), 0);
}

// [STEP-6] Two choices of eight ranks are 8·(1 - (7/8)²) = 15/8 different ones.
TEST(ExpertParallel, DispatchOnceSendsEachTokenToEachRankOfItsChoicesOnce) {
  Case c = case_of("mixtral-8x7b");
  c.job.global_batch = 8;
  c.layout = {.dp = 8, .ep = 8, .dispatch = Dispatch::once};
  const std::vector<Call> calls = calls_of(c, BlockKind::layer);
  EXPECT_DOUBLE_EQ(bytes_of(calls, is(CollectiveOp::all_to_all, Group::ep, Phase::forward)),
                   2 * 2048.0 * 15 / 8 * 4096 * 2);
  for (const Call& call : calls) {
    if (call.group == Group::ep) {
      EXPECT_EQ(call.choices, 2);
    }
  }
  // Experts that run again exchange again.
  c.layout.recompute = Recompute::selective;
  c.layout.recompute_pieces = bit(Piece::experts);
  EXPECT_EQ(count_of(calls_of(c, BlockKind::layer),
                     is(CollectiveOp::all_to_all, Group::ep, Phase::recompute)),
            2);
}

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
  for (Call call : stage.calls) {
    if (call.bytes > Bytes(4)) calls.push_back(call);  // not the gradient norm
  }
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    for (Call call : step.blocks[i].calls) {
      call.count *= static_cast<double>(stage.counts[i] * step.micro_batches);
      calls.push_back(call);
    }
  }
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
  expect_bytes(reduced(Framework::megatron, 0), 4, 0, 0);
  expect_bytes(reduced(Framework::megatron, 1), 0, 4, 2);
  expect_bytes(reduced(Framework::megatron, 1, "fp16"), 0, 2, 2);
}

// [STEP-10] arXiv 1910.02054 §7 counts 2m; DeepSpeed sends 3m: it all-reduces, then gathers. Three
// micro-batches: ZeRO-1 reduces once a step, ZeRO-2 after each.
TEST(DataParallel, DeepSpeedAllReducesGradientsAndGathersWeights) {
  expect_bytes(reduced(Framework::deepspeed, 0), 2, 0, 0);
  expect_bytes(reduced(Framework::deepspeed, 1), 2, 0, 2);
  expect_bytes(reduced(Framework::deepspeed, 2), 3 * 2, 0, 2);
}

// [STEP-10] ZeRO-3 gathers weights for the forward and again for the backward pass of each
// micro-batch and reduces its gradients: 3m, arXiv 1910.02054 §7.2.
TEST(DataParallel, Zero3GathersTwiceAndReducesOnceAMicroBatch) {
  expect_bytes(reduced(Framework::deepspeed, 3), 0, 3 * 2, 3 * 2 * 2);
  expect_bytes(reduced(Framework::fsdp, 3), 0, 3 * 4, 3 * 2 * 2);
}

TEST(DataParallel, FsdpWithoutReshardingGathersOnceAMicroBatch) {  // [STEP-10]
  expect_bytes(reduced(Framework::fsdp, 3, "bf16", false), 0, 3 * 4, 3 * 2);
  expect_bytes(reduced(Framework::fsdp, 2), 0, 3 * 4, 3 * 2);  // SHARD_GRAD_OP
}

TEST(DataParallel, InFp32EverythingTakesFourBytes) {  // [STEP-10]
  for (const Framework framework : {Framework::fsdp, Framework::deepspeed, Framework::jax}) {
    expect_bytes(reduced(framework, 3, "fp32"), 0, 3 * 4, 3 * 2 * 4);
  }
  expect_bytes(reduced(Framework::deepspeed, 1, "fp32"), 4, 0, 4);
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
  for (const Call& call : step.stages[0].calls) {
    if (call.phase == Phase::gradient) bytes += call.bytes.value() * call.count;
  }
  EXPECT_NEAR(bytes, 4 * adapters, 1e-6 * bytes);
}

TEST(DataParallel, HybridShardsReduceInsideAndSumAcrossTheReplicas) {  // [STEP-10]
  Case c = case_of("llama-2-7b");
  c.job.framework = Framework::fsdp;
  c.job.global_batch = 64;
  c.layout.dp = 64;
  c.layout.zero = 3;
  c.layout.shard = 8;
  expect_legal(c);
  const Step step = c.lowered();
  const std::vector<Call>& calls = step.blocks[0].calls;
  const double p = step.blocks[0].held.dense;
  EXPECT_DOUBLE_EQ(bytes_of(calls, CollectiveOp::reduce_scatter, Group::dp), 4 * p);
  EXPECT_DOUBLE_EQ(bytes_of(calls, CollectiveOp::all_reduce, Group::dp_replica), 4 * p / 8);
  EXPECT_EQ(span_of_group(step.spans, Group::dp).ranks, 8);
  EXPECT_EQ(span_of_group(step.spans, Group::dp_replica).ranks, 8);
}

TEST(DataParallel, ExpertsAreReducedOverTheirOwnReplicas) {  // [STEP-10]
  Case c = case_of("mixtral-8x7b");
  c.job.global_batch = 16;
  c.layout = {.dp = 16, .ep = 8, .zero = 1};
  const Step step = c.lowered();
  double experts = 0, dense = 0;
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    experts += static_cast<double>(step.stages[0].counts[i]) * step.blocks[i].held.experts;
    dense += static_cast<double>(step.stages[0].counts[i]) * step.blocks[i].held.dense;
  }
  const std::vector<Call>& calls = step.stages[0].calls;
  EXPECT_NEAR(bytes_of(calls, CollectiveOp::reduce_scatter, Group::expert_dp), 4 * experts, 1);
  EXPECT_NEAR(bytes_of(calls, CollectiveOp::reduce_scatter, Group::dp), 4 * dense, 1);
  EXPECT_EQ(span_of_group(step.spans, Group::expert_dp).ranks, 2);
}

// [STEP-11] Each of the pp·vpp - 1 boundaries passes b·s·h forward and as much backward.
double sends(const Step& step) {
  double out = 0;
  for (const StageClass& stage : step.stages) {
    out += static_cast<double>(stage.stages) * count_of(stage.calls, [](const Call& c) {
             return c.group == Group::pp && c.phase == Phase::pipeline && c.bytes > Bytes(4096);
           });
  }
  return out;
}

TEST(Pipeline, EveryBoundaryPassesEachMicroBatchOnceEachWay) {    // [STEP-11]
  for (const char* model : {"llama-2-7b", "limits-mlp-12288"}) {  // with and without other ends
    for (const std::int64_t pp : {2, 4, 8}) {
      for (const std::int64_t vpp : {1, 2}) {
        Case c = case_of(model);
        c.job.global_batch = 16;
        c.layout.pp = pp;
        c.layout.vpp = vpp;
        expect_legal(c);
        EXPECT_EQ(sends(c.lowered()), 2 * 16 * (pp * vpp - 1)) << model << " " << pp << " " << vpp;
      }
    }
  }
}

TEST(Pipeline, TransfersAreSplitOverTensorRanks) {  // [STEP-11]
  Case c = case_of("llama-2-7b");
  c.job.global_batch = 16;
  c.layout.pp = 4;
  c.layout.tp = 2;
  const double whole = 2048.0 * 4096 * 2;
  const auto first_send = [&] {
    const Step step = c.lowered();
    for (const Call& call : step.stages[1].calls) {
      if (call.group == Group::pp) return call.bytes.value();
    }
    return 0.0;
  };
  const auto gathers = [&] {
    return bytes_of(c.lowered().stages[1].calls, CollectiveOp::all_gather, Group::tp);
  };
  EXPECT_DOUBLE_EQ(first_send(), whole / 2);  // the activation is split already
  EXPECT_EQ(gathers(), 0);
  c.layout.sequence_parallel = false;  // Megatron-LM splits it and gathers on arrival
  EXPECT_DOUBLE_EQ(first_send(), whole / 2);
  EXPECT_DOUBLE_EQ(gathers(), 2 * 16 * whole);
  c.job.framework = Framework::deepspeed;
  EXPECT_DOUBLE_EQ(first_send(), whole);
}

TEST(Pipeline, TiedEmbeddingsAreSummedBetweenFirstAndLastStage) {  // [STEP-11]
  Case c = case_of("megatron-22b");
  c.job.global_batch = 8;
  c.layout.pp = 4;
  const Step step = c.lowered();
  for (const StageClass& stage : step.stages) {
    const bool end = stage.first == 0 || stage.first + stage.stages == 4;
    const double table = 51200.0 * 6144;
    const double bytes = bytes_of(stage.calls, CollectiveOp::all_reduce, Group::embedding);
    if (end) {
      EXPECT_GE(bytes, 4 * table) << stage.first;
      EXPECT_LE(bytes, 4.2 * table) << stage.first;
    } else {
      EXPECT_EQ(bytes, 0) << stage.first;
    }
  }
  c.model.tied_embeddings = false;
  EXPECT_EQ(bytes_of(c.lowered().stages[0].calls, CollectiveOp::all_reduce, Group::embedding), 0);
}

// [STEP-2] Gathered inputs that are kept need no second gather.
TEST(TensorParallel, KeptGatheredInputsAreNotGatheredAgain) {
  Case c = gpt_22b(8);
  c.layout.keep_gathered = true;
  const std::vector<Call> calls = calls_of(c, BlockKind::layer);
  EXPECT_EQ(count_of(calls, is(CollectiveOp::all_gather, Group::tp, Phase::backward)), 2);
  EXPECT_EQ(count_of(calls, [](const Call&) { return true; }), 8);
}

// [STEP-10] nanotron, ZeRO-1 over 8 ranks: one reduce-scatter of 4 B a parameter and one all-gather
// of 2 B, none of them hidden; the host cuts each of the 32·(4 matrices + 2 norms), table, head and
// the final norm (with the head) into 8 pieces.
TEST(DataParallel, NanotronsZero1SendsEverythingAtOnce) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.framework = Framework::nanotron;
  c.job.global_batch = 8;
  c.layout.dp = 8;
  c.layout.zero = 1;
  expect_legal(c);
  const StageClass stage = c.lowered().stages.front();
  const double held = stage.parameters;
  for (const auto& [op, bytes] :
       {std::pair{CollectiveOp::reduce_scatter, 4.0}, {CollectiveOp::all_gather, 2.0}}) {
    const auto wanted = [op = op](const Call& call) { return call.op == op; };
    EXPECT_EQ(count_of(stage.calls, wanted), 1);
    EXPECT_DOUBLE_EQ(bytes_of(stage.calls, wanted), bytes * held);
    for (const Call& call : stage.calls) {
      EXPECT_TRUE(!wanted(call) || call.hidden_by == HiddenBy::nothing);
    }
  }
  const double matrices = static_cast<double>(linears(c.model.kinds.front(), 4096).size);
  EXPECT_EQ(stage.pieces, (32 * (matrices + 2) + 2) * 8);
  c.layout.zero = 0;
  EXPECT_EQ(c.lowered().stages.front().pieces, 0);
}

// A bucket holds whole matrices: a head of 131,072 words is one call however small the bucket is.
TEST(DataParallel, ABucketHoldsWholeMatrices) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.framework = Framework::fsdp;  // buckets of 25 MiB
  c.model.pattern.resize(1);
  c.model.vocabulary = 131072;
  c.job.global_batch = 8;
  c.layout.dp = 8;
  c.layout.zero = 0;
  expect_legal(c);
  const Step step = c.lowered();
  const double matrices = static_cast<double>(linears(c.model.kinds.front(), 4096).size) + 2;
  EXPECT_EQ(count_of(step.stages.front().calls,
                     [](const Call& call) { return call.phase == Phase::gradient; }),
            matrices);
}

}  // namespace
}  // namespace headway::testing
