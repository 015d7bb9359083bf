// The same passes over programs that are no step of pretraining: they stop where these stop.
#include <gtest/gtest.h>

#include "step/case_for_test.hpp"
#include "step/forward/writer.hpp"
#include "step/passes/passes.hpp"

namespace headway::testing {
namespace {

// One token each of 16 sequences with 4,000 in the cache, through one layer over 8 ranks: nothing
// is differentiated, and attention reads the cache.
TEST(Passes, StopAfterTheForwardPassForADecodeStep) {
  Case c = case_of("llama-2-70b", "dgx-h100");
  c.job.sequence = 1;
  c.layout.tp = 8;
  c.layout.sequence_parallel = false;
  c.layout.micro_batch = 16;
  const Share share(c.model, c.job, c.layout);
  Program program = forward_layer(share, c.model.kinds[0]);
  split_tensors(program, share);
  for (Item& item : program.items) {
    auto* op = std::get_if<Op>(&item.what);
    auto* core = op != nullptr ? std::get_if<AttentionShape>(&op->shape) : nullptr;
    if (core != nullptr) core->keys = 4000;
  }
  double products = 0, scores = 0;
  for (const Op& op : only<Op>(program.items)) {
    EXPECT_EQ(op.phase, Phase::forward);
    (is_product(op) ? products : scores) += work(op, AttentionFlops::full).value();
  }
  // h² · (1 + 1/8 + 1/8 + 1) of attention, 3 · h · f; two FLOPs a weight and token, an eighth here.
  const double h = 8192, f = 28672;
  EXPECT_DOUBLE_EQ(products, 16 * 2 * (2.25 * h * h + 3 * h * f) / 8);
  EXPECT_DOUBLE_EQ(scores, 16 * 4 * 4000 * h / 8);
  const std::vector<Call> calls = calls_in(program.items);
  ASSERT_EQ(calls.size(), 2u);
  for (const Call& call : calls) {
    EXPECT_EQ(call.op, CollectiveOp::all_reduce);
    EXPECT_EQ(call.bytes, Bytes(16 * h * 2));
  }
}

// Tables spread over 8 ranks: a rank looks up its tables for all samples, and each gets the pooled
// vectors of its own; backward their gradients go back, and are added to the rows.
TEST(Passes, MakeAnExchangeOfAnEmbeddingBag) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.layout.dp = c.layout.ep = 8;
  const Share share(c.model, c.job, c.layout);
  const double samples = 2048, tables = 26, width = 128, look_ups = 20;
  const Bytes pooled = samples * tables * width * Bytes(2);
  Writer writer(share, BlockKind::embedding);
  writer.serve(Module::embedding);
  writer.pass((look_ups + 1) * pooled, (2 * look_ups + 1) * pooled);
  writer.cross(Seam::dispatch, pooled);
  Program program = writer.finish(Bytes(0));
  route_experts(program, share);
  differentiate(program, share);
  const Block block = recompute(std::move(program), share, {});
  ASSERT_EQ(block.items.size(), 4u);
  const auto phase_of = [](const Item& item) {
    const auto* op = std::get_if<Op>(&item.what);
    return op != nullptr ? op->phase : std::get<Call>(item.what).phase;
  };
  EXPECT_EQ(phase_of(block.items[1]), Phase::forward);
  EXPECT_EQ(phase_of(block.items[2]), Phase::backward);
  for (const Call& call : only<Call>(block.items)) {
    EXPECT_EQ(call.op, CollectiveOp::all_to_all);
    EXPECT_EQ(call.group, Group::ep);
    EXPECT_EQ(call.bytes, pooled);
  }
  const auto moved = [&](std::size_t i) {
    return std::get<Pass>(std::get<Op>(block.items[i].what).shape).moved;
  };
  EXPECT_EQ(moved(0), (look_ups + 1) * pooled);
  EXPECT_EQ(moved(3), (2 * look_ups + 1) * pooled);
}

// What stands behind what, in a layer with sequence parallelism: the input is gathered again before
// the first product's gradients, and its own gradient scattered behind the last.
TEST(Passes, WriteTheBackwardPassInTheReverseOrder) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.layout.tp = 8;
  const Share share(c.model, c.job, c.layout);
  Program program = forward_layer(share, c.model.kinds[0]);
  split_tensors(program, share);
  differentiate(program, share);
  const Block block = recompute(std::move(program), share, {});
  std::string order;
  for (const Item& item : block.items) {
    if (const auto* call = std::get_if<Call>(&item.what)) {
      order += call->op == CollectiveOp::all_gather ? 'G' : 'S';
    } else if (const auto& op = std::get<Op>(item.what); !std::holds_alternative<Pass>(op.shape)) {
      order += !is_product(op) ? 'a' : op.weight_gradient ? 'w' : 'p';
    }
  }
  // Forward: attention, feed-forward. Backward: the result's gradient is gathered for down, up's
  // input for its weight; the same of attention.
  EXPECT_EQ(order,
            "GpapSGppS"
            "GpwGpwS"
            "GpwaGpwS");
}

}  // namespace
}  // namespace headway::testing
