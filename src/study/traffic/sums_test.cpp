#include "study/traffic/sums.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "cluster/load.hpp"
#include "forecast/random_run_for_test.hpp"

namespace headway::testing {
namespace {

TrafficCall call_of(CollectiveOp op, Group group, double bytes, double count, double fabric) {
  TrafficCall out;
  out.call = {.op = op,
              .group = group,
              .phase = Phase::gradient,
              .dtype = Precision::bf16,
              .bytes = Bytes(bytes),
              .count = count};
  out.ranks = 16;
  out.each = Seconds(1e-3);
  out.latency = Seconds(1e-4);
  out.algorithm = Bytes(bytes * count);
  out.wire = out.algorithm;
  out.wire_at[0] = out.wire * (1 - fabric);
  out.wire_at[2] = out.wire * fabric;
  return out;
}

const std::vector<TrafficCall> kCalls = {
    call_of(CollectiveOp::all_reduce, Group::tp, 100, 3, 0),
    call_of(CollectiveOp::all_reduce, Group::dp, 1024, 2, 0.5),
    call_of(CollectiveOp::all_gather, Group::dp, 1023, 1, 0.5),
};

TEST(TrafficSums, GroupsAddUpToTheWholeTheLargestFirst) {
  const TrafficSum all = sum_of(kCalls);
  EXPECT_DOUBLE_EQ(all.calls, 6);
  EXPECT_DOUBLE_EQ(all.wire.value(), 300 + 2048 + 1023);
  EXPECT_NEAR(all.time.value(), 6e-3, 1e-15);
  EXPECT_NEAR(all.latency.value(), 6e-4, 1e-15);
  for (const auto& key : {group_of, operation_of, phase_of, group_and_operation_of}) {
    double wire = 0, before = 1e300;
    for (const TrafficSum& sum : sums_by(kCalls, key)) {
      EXPECT_LE(sum.wire.value(), before);
      before = sum.wire.value();
      wire += before;
    }
    EXPECT_DOUBLE_EQ(wire, all.wire.value());
  }
  EXPECT_EQ(sums_by(kCalls, group_of).front().name, "dp");
  EXPECT_EQ(sums_by(kCalls, group_and_operation_of).size(), 3u);
}

TEST(TrafficSums, SizesFallIntoPowersOfTwoWithoutGaps) {
  const std::vector<SizeClass> classes = size_histogram(kCalls);
  ASSERT_EQ(classes.size(), 5u);  // 64, 128, 256, 512, 1,024
  EXPECT_EQ(classes.front().power, 6);
  EXPECT_DOUBLE_EQ(classes[0].sum.calls, 3);
  EXPECT_DOUBLE_EQ(classes[1].sum.calls, 0);
  EXPECT_DOUBLE_EQ(classes[3].sum.calls, 1);  // 1,023
  EXPECT_DOUBLE_EQ(classes[4].sum.calls, 2);  // 1,024
  EXPECT_TRUE(size_histogram({}).empty());
}

// [COMM-3] Frontier: 8 ranks of a node share 4 cards of 25 GB/s; in a package each has its own
// port.
TEST(TrafficSums, RanksOfANodeShareItsCards) {
  const Cluster cluster = load_cluster("frontier").value();
  Traffic traffic;
  traffic.ranks = 64;
  traffic.step_time = Seconds(1e-6);
  const std::vector<LevelLoad> loads = level_loads(kCalls, traffic, cluster);
  ASSERT_EQ(loads.size(), 2u);
  EXPECT_DOUBLE_EQ(loads[0].each_port.value(), 300 + 1535.5);
  EXPECT_EQ(loads[0].ports, 0);
  const LevelLoad& fabric = loads[1];
  EXPECT_EQ(fabric.ports, 4);
  EXPECT_EQ(fabric.sharing, 8);
  EXPECT_DOUBLE_EQ(fabric.each_port.value(), 1535.5 * 8 / 4);
  EXPECT_NEAR(fabric.port_rate.value(), 25e9, 1);
  EXPECT_NEAR(fabric.busy, 1535.5 * 2 / 25e9 / 1e-6, 1e-9);
  // Two ranks alone on their node have all its cards.
  traffic.ranks = 2;
  EXPECT_EQ(level_loads(kCalls, traffic, cluster)[1].sharing, 2);
}

TEST(TrafficSums, SmallCallsAreSummedApart) {  // [COMM-4]
  std::vector<TrafficCall> calls = kCalls;
  EXPECT_DOUBLE_EQ(small_sum(calls).calls, 0);
  calls[0].small = true;
  EXPECT_DOUBLE_EQ(small_sum(calls).calls, 3);
  EXPECT_DOUBLE_EQ(small_sum(calls).wire.value(), 300);
}

}  // namespace
}  // namespace headway::testing
