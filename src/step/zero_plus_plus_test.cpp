// ZeRO++ (arXiv 2306.10209): what it sends, holds and does besides, against the paper's own counts.
#include <gtest/gtest.h>

#include "step/case_for_test.hpp"

namespace headway::testing {
namespace {

constexpr double kNode = 8, kNodes = 8;

Case thirteen_billion() {
  Case c = case_of("gpt3-13b");
  c.job.framework = framework_from("deepspeed").value();
  c.job.global_batch = 64;
  c.layout.dp = 64;
  c.layout.zero = 3;
  return c;
}
Case all_three() {
  Case c = thirteen_billion();
  c.job.quantized_weights = c.job.quantized_gradients = true;
  c.layout.secondary = 8;
  return c;
}

// Bytes that enter a node in one micro-batch, over the model's 16-bit bytes that other nodes hold.
struct Crossing {
  double forward = 0, backward = 0, gradients = 0;
  double sum() const { return forward + backward + gradients; }
};
Crossing crossing(const Case& c) {
  expect_legal(c);
  const Step step = c.lowered();
  const StageClass& stage = step.stages.front();
  Crossing out;
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    for (const Call& call : calls_in(step.blocks[i].items)) {
      const GroupSpan& span = span_of_group(step.spans, call.group);
      if (row_of(call.group).part != Part::dp || span.members[0] == span.ranks) continue;
      // Of what ranks gather or reduce together a node lacks, or gives away, the others' share; an
      // exchange between nodes all ranks of a node make at once.
      const double times = call.group == Group::dp_nodes ? kNode : 1;
      const double bytes = times * call.bytes.value() * call.count *
                           static_cast<double>(stage.counts[i]) / (2 * stage.parameters);
      (call.op != CollectiveOp::all_gather ? out.gradients
       : call.phase == Phase::forward      ? out.forward
                                           : out.backward) += bytes;
    }
  }
  return out;
}

// [STEP-27] The paper's table: M each of two gathers and a reduction; half a gather forward, none
// backward, a quarter of the gradients. Here norms stay gathered, scales are sent besides, and
// DeepSpeed gathers the last 5e8 parameters only once.
TEST(ZeroPlusPlus, SendsAQuarterOfZero3AcrossNodes) {
  const Crossing base = crossing(thirteen_billion());
  EXPECT_NEAR(base.forward, 1, 0.002);
  EXPECT_NEAR(base.backward, 1, 0.05);
  EXPECT_NEAR(base.gradients, 1, 1e-6);
  const Crossing all = crossing(all_three());
  EXPECT_NEAR(all.forward, 0.5, 0.002);
  EXPECT_EQ(all.backward, 0);
  EXPECT_NEAR(all.gradients, 0.25, 0.002);
  EXPECT_NEAR(all.sum(), 0.75, 0.003);
}

// [STEP-27] Each alone, after the paper's section 3.
TEST(ZeroPlusPlus, EachPartSparesWhatItIsMadeFor) {
  const Crossing base = crossing(thirteen_billion());
  Case c = thirteen_billion();
  c.job.quantized_weights = true;
  const Crossing weights = crossing(c);
  EXPECT_NEAR(weights.forward, base.forward / 2, 0.001);
  EXPECT_NEAR(weights.backward, base.backward / 2, 0.001);
  EXPECT_EQ(weights.gradients, base.gradients);
  c = thirteen_billion();
  c.layout.secondary = 8;
  const Crossing second = crossing(c);
  EXPECT_EQ(second.forward, base.forward);
  EXPECT_EQ(second.backward, 0);
  c.layout.secondary = 16;  // of two nodes: as much as from all
  EXPECT_EQ(crossing(c).backward, base.backward);
  c = thirteen_billion();
  c.job.quantized_gradients = true;
  const Crossing gradients = crossing(c);
  EXPECT_EQ(gradients.forward, base.forward);
  EXPECT_NEAR(gradients.gradients, 0.25, 0.002);
}

// [STEP-27] A rank sends a quarter of the 16-bit gradients within its node, and an eighth of that,
// what is its own to pass on, to other nodes; of each matrix, in two exchanges with their scales.
TEST(ZeroPlusPlus, ExchangesGradientsWithinNodesAndThenBetweenThem) {
  const Case c = all_three();
  const Step step = c.lowered();
  EXPECT_EQ(step.spans.node.ranks, 8);
  EXPECT_EQ(step.spans.nodes.ranks, kNodes);
  const auto bytes = [&](Group group) {
    double sum = 0;
    for (std::size_t i = 0; i < step.blocks.size(); ++i) {
      const std::vector<Call> calls = calls_in(step.blocks[i].items);
      sum += static_cast<double>(step.stages.front().counts[i]) *
             bytes_of(calls, [&](const Call& call) {
               return call.group == group && call.op == CollectiveOp::all_to_all &&
                      call.dtype == Precision::fp4;
             });
    }
    return sum;
  };
  const double p = step.stages.front().parameters;
  EXPECT_NEAR(bytes(Group::dp_node), p / 2, 0.002 * p);
  EXPECT_DOUBLE_EQ(bytes(Group::dp_nodes) * kNode, bytes(Group::dp_node));
  // Of a layer: queries with keys and values, output, and both of the feed-forward part; two
  // exchanges each, two messages each.
  const std::vector<Call> layer = calls_in(step.blocks.front().items);
  EXPECT_EQ(count_of(layer, [](const Call& call) { return call.op == CollectiveOp::all_to_all; }),
            4 * 2 * 2);
}

TEST(ZeroPlusPlus, HoldsASecondCopyInSixteenBitOverANode) {  // [STEP-27] 2 P / 8 more
  Case c = thirteen_billion();
  const Step before = c.lowered();
  c.layout.secondary = 8;
  const Step after = c.lowered();
  const double p = before.stages.front().parameters;
  EXPECT_NEAR(after.held.memory.parameters.value() - before.held.memory.parameters.value(),
              2 * p / 8, 1e-6 * p);
  EXPECT_EQ(after.held.memory.optimizer, before.held.memory.optimizer);
}

// [STEP-27] 1 B read and 2 B written of a weight, forward and backward; of a gradient 2 B read,
// half a byte written and as much read.
TEST(ZeroPlusPlus, MovesThreeBytesAParameterForEach) {
  const auto moved = [](const Case& c) {
    const Step step = c.lowered();
    double sum = 0;
    for (std::size_t i = 0; i < step.blocks.size(); ++i) {
      for (const Op& op : only<Op>(step.blocks[i].items)) {
        const auto* pass = std::get_if<Pass>(&op.shape);
        if (pass == nullptr) continue;
        sum += static_cast<double>(step.stages.front().counts[i]) * pass->moved.value();
      }
    }
    return sum;
  };
  Case c = thirteen_billion();
  const double p = c.lowered().stages.front().parameters, before = moved(c);
  c.job.quantized_weights = true;
  EXPECT_NEAR(moved(c) - before, 6 * p, 1e-6 * p);
  c.job.quantized_gradients = true;
  EXPECT_NEAR(moved(c) - before, 9 * p, 1e-6 * p);
}

TEST(ZeroPlusPlus, IsLegalWithDeepSpeedsZero3Alone) {
  const auto says = [](const Case& c, const char* message) {
    std::string all;
    for (const Problem& problem : check(c))
      all += where_text(problem) + ": " + problem.message + "\n";
    EXPECT_NE(all.find(message), std::string::npos) << all;
  };
  Case c = all_three();
  c.layout.zero = 2;
  says(c, "secondary-shard: is read with --zero 3 only");
  says(c, "quantized-weights: is read with --zero 3 only");
  says(c, "quantized-gradients: is read with --zero 3 only");
  c = all_three();
  c.job.framework = framework_from("fsdp").value();
  says(c, "quantized-weights: is a setting of DeepSpeed; leave it out");
  c = all_three();
  c.layout.secondary = 24;
  says(c, "secondary-shard: 24 does not divide");
  c = all_three();
  c.layout.tp = 2;
  c.layout.dp = 32;
  says(c, "quantized-gradients: needs ranks next to each other");
  c = all_three();
  c.layout.dp = 8;
  c.job.global_batch = 8;
  says(c, "that fill several nodes of 8");
  c = all_three();
  c.job.recipe = recipe_from("fp32");
  says(c, "needs weights in 16 bit");
  c = all_three();
  c.layout.shard = 8;
  says(c, "cannot stand beside hybrid sharding");
}

}  // namespace
}  // namespace headway::testing
