#include "study/sweep/axes.hpp"

#include <gtest/gtest.h>

#include "cost/collective/collective.hpp"
#include "study/sweep/sweep_for_test.hpp"

namespace headway {
namespace {

// Seconds of a call over all ranks of 64 nodes, one rank of each: it goes over the fabric alone.
Seconds fabric_time(const RequestedRun& run, CollectiveOp op, Bytes bytes) {
  const auto calibration = calibration_for(run.cluster);
  EXPECT_TRUE(calibration.ok());
  return collective_time(op, bytes, span_of(64, 8, 512, run.cluster), run.cluster,
                         calibration->levels);
}

TEST(WithAccelerators, WeakScalingKeepsTheBatchOfARankAndStrongThatOfAll) {
  RequestedRun base = run_to_sweep();
  base.layout.tp = 2;
  base.layout.dp = 4;
  const auto weak = with_accelerators(base, 64, BatchRule::of_a_rank);
  ASSERT_TRUE(weak.ok());
  EXPECT_EQ(weak->layout.dp, 32);
  EXPECT_EQ(weak->layout.tp, 2);
  EXPECT_EQ(weak->job.global_batch, 128);  // 16 / 4 a rank
  const auto strong = with_accelerators(base, 64, BatchRule::of_all);
  ASSERT_TRUE(strong.ok());
  EXPECT_EQ(strong->layout.dp, 32);
  EXPECT_EQ(strong->job.global_batch, 16);
}

TEST(WithAccelerators, RefusesWhatTheDegreesDoNotDivideAndBrokenSequences) {
  RequestedRun base = run_to_sweep();
  base.layout.tp = 8;
  base.layout.dp = 1;
  EXPECT_FALSE(with_accelerators(base, 12, BatchRule::of_all).ok());
  base = run_to_sweep();
  base.job.global_batch = 12;  // 1.5 a rank
  EXPECT_FALSE(with_accelerators(base, 1, BatchRule::of_a_rank).ok());
  EXPECT_TRUE(with_accelerators(base, 2, BatchRule::of_a_rank).ok());
}

TEST(WithSequence, KeepsTokensOrSequencesOfAStep) {
  const RequestedRun base = run_to_sweep();
  const auto tokens = with_sequence(base, 16'384, /*same_tokens=*/true);
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(tokens->job.global_batch * tokens->job.sequence, 16 * 4096);
  const auto sequences = with_sequence(base, 16'384, /*same_tokens=*/false);
  ASSERT_TRUE(sequences.ok());
  EXPECT_EQ(sequences->job.global_batch, 16);
  EXPECT_FALSE(with_sequence(base, 5000, /*same_tokens=*/true).ok());
}

TEST(WithDegrees, DataParallelismTakesWhatTheyLeave) {
  RequestedRun base = run_to_sweep();
  base.layout.dp = 64;
  const auto split = with_degrees(base, {.tp = 4, .cp = 2, .pp = 2});
  ASSERT_TRUE(split.ok());
  EXPECT_EQ(split->layout.dp, 4);
  EXPECT_EQ(split->layout.ranks(), 64);
  EXPECT_FALSE(with_degrees(base, {.tp = 3}).ok());
}

// A gigabyte is all bandwidth, four bytes are all latency: each doubles with its factor and leaves
// the other.
TEST(WithBandwidth, HalvesTheTimeOfLongCallsBeyondTheNode) {
  const RequestedRun base = run_to_sweep();
  const auto faster = with_bandwidth(base, 2);
  ASSERT_TRUE(faster.ok());
  const Bytes large(8e9), tiny(4);
  EXPECT_NEAR(fabric_time(*faster, CollectiveOp::send_receive, large) /
                  fabric_time(base, CollectiveOp::send_receive, large),
              0.5, 0.01);
  EXPECT_NEAR(fabric_time(*faster, CollectiveOp::all_reduce, tiny) /
                  fabric_time(base, CollectiveOp::all_reduce, tiny),
              1, 0.01);
  EXPECT_EQ(faster->cluster.levels[0].bandwidth, base.cluster.levels[0].bandwidth);
}

TEST(WithLatency, MultipliesAllTimesThatDoNotDependOnTheSize) {
  const RequestedRun base = run_to_sweep();
  for (const double factor : {0.25, 3.0}) {
    const auto slower = with_latency(base, factor);
    ASSERT_TRUE(slower.ok());
    for (const CollectiveOp op : {CollectiveOp::all_reduce, CollectiveOp::all_gather,
                                  CollectiveOp::all_to_all, CollectiveOp::send_receive}) {
      EXPECT_NEAR(fabric_time(*slower, op, Bytes(4)) / fabric_time(base, op, Bytes(4)), factor,
                  0.01)
          << to_name(op);
    }
    const Bytes large(64e9);
    EXPECT_NEAR(fabric_time(*slower, CollectiveOp::send_receive, large) /
                    fabric_time(base, CollectiveOp::send_receive, large),
                1, 0.01);
  }
}

TEST(WithDomain, JoinsMoreAcceleratorsAndKeepsLevelsWhole) {
  const auto larger = with_domain(run_to_sweep(), 72);
  ASSERT_TRUE(larger.ok());
  const auto& levels = larger->cluster.levels;
  EXPECT_EQ(levels[0].size, 72);
  EXPECT_EQ(levels[1].size % 72, 0);
  EXPECT_EQ(larger->cluster.accelerators, levels.back().size);
  EXPECT_FALSE(with_domain(run_to_sweep(), 1).ok());
  RequestedRun meshed = run_to_sweep();
  meshed.cluster = load_cluster("dgx-v100").value();
  EXPECT_FALSE(with_domain(meshed, 16).ok());
}

TEST(WithNetworkOf, TakesTheOuterLevelsAndLeavesTheNode) {
  const Cluster slow = load_cluster("dgx-v100").value();
  for (const char* name : {"dgx-h100", "gb200-nvl72"}) {
    RequestedRun base = run_to_sweep();
    base.cluster = load_cluster(name).value();
    const auto on_slow = with_network_of(base, slow);
    ASSERT_TRUE(on_slow.ok());
    EXPECT_EQ(on_slow->cluster.levels[0].bandwidth, base.cluster.levels[0].bandwidth);
    EXPECT_EQ(on_slow->cluster.levels[1].bandwidth, slow.levels[1].bandwidth);
    EXPECT_EQ(on_slow->cluster.levels[1].size % on_slow->cluster.levels[0].size, 0);
  }
}

}  // namespace
}  // namespace headway
