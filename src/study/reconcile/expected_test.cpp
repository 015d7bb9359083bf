// Ranks of groups, and the calls of a step, against lists written out by hand: recordings for other
// tests are made of them.
#include "study/reconcile/expected.hpp"

#include <gtest/gtest.h>

#include <map>

#include "forecast/random_run_for_test.hpp"

namespace headway {
namespace {

using Ranks = std::vector<std::int64_t>;

// 16 ranks numbered tp, cp, dp, pp from the innermost: rank = tp + 2 cp + 4 dp + 8 pp.
TEST(GroupRanks, OfEachGroupAreThoseOfTheGrid) {
  const Layout layout = {{.tp = 2, .cp = 2, .ep = 4}, {.pp = 2}, {.dp = 2}};
  const auto of = [&](Group group, std::int64_t rank) { return group_ranks(layout, group, rank); };
  EXPECT_EQ(of(Group::tp, 5), (Ranks{4, 5}));
  EXPECT_EQ(of(Group::cp, 5), (Ranks{5, 7}));
  EXPECT_EQ(of(Group::pp, 5), (Ranks{5, 13}));
  EXPECT_EQ(of(Group::embedding, 13), (Ranks{5, 13}));
  EXPECT_EQ(of(Group::dp, 5), (Ranks{1, 3, 5, 7}));  // cp and dp share the dense weights
  EXPECT_EQ(of(Group::ep, 5), (Ranks{4, 5, 6, 7}));  // from the inner ranks of the stage
  EXPECT_EQ(of(Group::expert_dp, 5), (Ranks{1, 5}));
  EXPECT_EQ(of(Group::model, 5), (Ranks{4, 5, 12, 13}));
  EXPECT_EQ(of(Group::world, 5).size(), 16U);
  EXPECT_EQ(stage_of(layout, 7), 0);
  EXPECT_EQ(stage_of(layout, 8), 1);
}

// dp innermost, then pp: rank = dp + 4 pp + 8 tp; shards of two neighbours.
TEST(GroupRanks, FollowTheOrderOfTheDimensions) {
  Layout layout = {{.tp = 2}, {.pp = 2}, {.dp = 4, .shard = 2}};
  layout.order = {Dimension::dp, Dimension::pp, Dimension::tp, Dimension::cp};
  const auto of = [&](Group group, std::int64_t rank) { return group_ranks(layout, group, rank); };
  EXPECT_EQ(of(Group::dp, 6), (Ranks{6, 7}));  // the sharding group
  EXPECT_EQ(of(Group::dp_replica, 6), (Ranks{4, 6}));
  EXPECT_EQ(of(Group::pp, 6), (Ranks{2, 6}));
  EXPECT_EQ(of(Group::tp, 6), (Ranks{6, 14}));
  EXPECT_EQ(stage_of(layout, 6), 1);
  EXPECT_EQ(stage_of(layout, 8), 0);
}

// Two copies of the model: stage s of one lies with stage 3 - s of the other.
TEST(GroupRanks, OfTwoCopiesOfTheModelAreOnBothSidesOfThePipeline) {
  Layout layout = {{}, {.pp = 4, .schedule = Schedule::dual_pipe}, {.dp = 4}};
  const auto of = [&](Group group, std::int64_t rank) { return group_ranks(layout, group, rank); };
  EXPECT_EQ(of(Group::copies, 5), (Ranks{5, 9}));
  EXPECT_EQ(of(Group::copies, 15), (Ranks{3, 15}));
  EXPECT_EQ(of(Group::dp, 5), (Ranks{4, 5, 6, 7}));
  layout.schedule = Schedule::one_f_one_b;
  EXPECT_EQ(of(Group::copies, 5), (Ranks{5}));
}

// GPT-NeoX 1.3B on two tensor ranks without sequence parallelism: each of two micro-batches sums
// 2,048 x 2,048 activations in bf16 twice a layer both ways, behind the embedding and before the
// head; and three numbers a token of the loss in fp32.
TEST(ExpectedKinds, OfATensorParallelModelAreItsSums) {
  testing::Case c = testing::case_of("gpt-neox-1.3b", "dgx-h100");
  c.job.framework = framework_from("deepspeed").value();
  c.job.sequence = 2048;
  c.job.global_batch = 2;
  c.layout.tp = 2;
  c.layout.sequence_parallel = false;
  const Step step = lower(c);
  const Prices prices{c.job, c.layout, c.cluster, c.calibration, step.spans};
  const std::vector<Lane> lanes = lanes_of(c.layout, step);
  ASSERT_EQ(lanes.size(), 1U);
  EXPECT_EQ(lanes[0].first, (Ranks{0, 1}));
  EXPECT_EQ(lanes[0].used.front(), Group::tp);
  const auto kinds = expected_kinds(step, prices, lanes);
  ASSERT_EQ(kinds.size(), 1U);
  std::map<double, double> sums;
  for (const ExpectedKind& kind : kinds[0]) {
    if (kind.op == CollectiveOp::all_reduce) sums[kind.bytes.value()] += kind.count;
  }
  EXPECT_DOUBLE_EQ(sums[2048.0 * 2048 * 2], 2 * (24 * 4 + 2));
  EXPECT_DOUBLE_EQ(sums[2048.0 * 4], 2 * 3);
}

}  // namespace
}  // namespace headway
