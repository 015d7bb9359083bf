// Which messages of which size a step sends, form by form of parallelism.
#include <gtest/gtest.h>

#include "step/case_for_test.hpp"

namespace headway::testing {
namespace {

Case split_gpt_22b(std::int64_t tp) {
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
    if (block.kind == kind) return calls_in(block.items);
  }
  return {};
}

auto is(CollectiveOp op, Group group, Phase phase) {
  return [=](const Call& c) { return c.op == op && c.group == group && c.phase == phase; };
}

// [STEP-2] arXiv 1909.08053 §3: two all-reduces of b·s·h forward and two backward in each layer.
TEST(TensorParallel, AllReducesFourActivationsALayer) {
  Case c = split_gpt_22b(8);
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
  const std::vector<Call> calls = calls_of(split_gpt_22b(8), BlockKind::layer);
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
    EXPECT_TRUE(calls_of(split_gpt_22b(1), kind).empty());
  }
}

TEST(TensorParallel, AParallelLayerHasOneEntryAndOneExit) {  // [STEP-2]
  Case c = case_of("gpt-neox-20b");
  c.layout.tp = 8;
  c.layout.sequence_parallel = false;
  EXPECT_EQ(count_of(calls_of(c, BlockKind::layer), [](const Call&) { return true; }), 2);
}

TEST(TensorParallel, TheLossReducesThreeNumbersAToken) {  // [STEP-2] [STEP-7]
  const std::vector<Call> calls = calls_of(split_gpt_22b(8), BlockKind::head);
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

// [STEP-3] What three pieces after the first find is added up: the sum read and written, the piece
// read; forward results, backward gradients of queries, keys and values. The core knows its ring.
TEST(ContextParallel, ARingAddsUpWhatItsPiecesFind) {
  Case c = case_of("llama-3-70b");
  c.job.sequence = 8192;
  c.layout.tp = 2;
  const auto passed_over = [&](std::int64_t cp, Phase phase) {
    c.layout.cp = cp;
    expect_legal(c);
    double bytes = 0;
    const Step step = c.lowered();
    for (const Block& block : step.blocks) {
      if (block.kind != BlockKind::layer) continue;
      for (const Op& op : only<Op>(block.items)) {
        if (op.phase != phase) continue;
        if (const auto* pass = std::get_if<Pass>(&op.shape)) bytes += pass->moved.value();
        if (const auto* core = std::get_if<AttentionShape>(&op.shape)) {
          EXPECT_EQ(core->ring, cp);
        }
      }
    }
    return bytes;
  };
  const double rows = 8192.0 / 4, queries = 64.0 / 2 * 128, keys = 8.0 / 2 * 128;
  // Elsewhere a rank of four has a quarter of the tokens to pass over.
  EXPECT_NEAR(passed_over(4, Phase::forward) - passed_over(1, Phase::forward) / 4,
              3 * rows * 3 * 2 * queries, 1);
  EXPECT_NEAR(passed_over(4, Phase::backward) - passed_over(1, Phase::backward) / 4,
              3 * rows * 3 * 2 * (queries + 2 * keys), 1);
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
  c.layout = {{.ep = 8}, {}, {.dp = 8}};
  const auto exchanges = [](Phase phase) { return is(CollectiveOp::all_to_all, Group::ep, phase); };
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    const std::vector<Call> calls = calls_of(c, BlockKind::layer);
    EXPECT_EQ(count_of(calls, exchanges(phase)), 2);
    EXPECT_DOUBLE_EQ(bytes_of(calls, exchanges(phase)), 2 * 2048.0 * 2 * 4096 * 2);
  }
  // Under sequence parallelism each rank routes a tp-th of the tokens.
  c.layout = {{.tp = 4, .ep = 8}, {}, {.dp = 2}};
  EXPECT_DOUBLE_EQ(bytes_of(calls_of(c, BlockKind::layer), exchanges(Phase::forward)),
                   2 * 2048.0 / 4 * 2 * 4096 * 2);
  c.layout = {{}, {}, {.dp = 8}};
  EXPECT_EQ(count_of(calls_of(c, BlockKind::layer), exchanges(Phase::forward)), 0);
}

// [STEP-6] Two choices of eight ranks are 8·(1 - (7/8)²) = 15/8 different ones.
TEST(ExpertParallel, DispatchOnceSendsEachTokenToEachRankOfItsChoicesOnce) {
  Case c = case_of("mixtral-8x7b");
  c.job.global_batch = 8;
  c.layout = {{.ep = 8, .dispatch = Dispatch::once}, {}, {.dp = 8}};
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

// [STEP-11] Each of the pp·vpp - 1 boundaries passes b·s·h forward and as much backward.
double sends(const Step& step) {
  double out = 0;
  for (const StageClass& stage : step.stages) {
    out += static_cast<double>(stage.stages) * count_of(calls_in(stage.items), [](const Call& c) {
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
    for (const Call& call : only<Call>(step.stages[1].items)) {
      if (call.group == Group::pp) return call.bytes.value();
    }
    return 0.0;
  };
  const auto gathers = [&] {
    return bytes_of(calls_in(c.lowered().stages[1].items), CollectiveOp::all_gather, Group::tp);
  };
  EXPECT_DOUBLE_EQ(first_send(), whole / 2);  // the activation is split already
  EXPECT_EQ(gathers(), 0);
  c.layout.sequence_parallel = false;  // Megatron-LM splits it and gathers on arrival
  EXPECT_DOUBLE_EQ(first_send(), whole / 2);
  EXPECT_DOUBLE_EQ(gathers(), 2 * 16 * whole);
  c.job.framework = framework_from("deepspeed").value();
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
    const double bytes =
        bytes_of(calls_in(stage.items), CollectiveOp::all_reduce, Group::embedding);
    if (end) {
      EXPECT_GE(bytes, 4 * table) << stage.first;
      EXPECT_LE(bytes, 4.2 * table) << stage.first;
    } else {
      EXPECT_EQ(bytes, 0) << stage.first;
    }
  }
  c.model.tied_embeddings = false;
  EXPECT_EQ(
      bytes_of(calls_in(c.lowered().stages[0].items), CollectiveOp::all_reduce, Group::embedding),
      0);
}

// [STEP-2] Gathered inputs that are kept need no second gather.
TEST(TensorParallel, KeptGatheredInputsAreNotGatheredAgain) {
  Case c = split_gpt_22b(8);
  c.layout.keep_gathered = true;
  const std::vector<Call> calls = calls_of(c, BlockKind::layer);
  EXPECT_EQ(count_of(calls, is(CollectiveOp::all_gather, Group::tp, Phase::backward)), 2);
  EXPECT_EQ(count_of(calls, [](const Call&) { return true; }), 8);
}

}  // namespace
}  // namespace headway::testing
