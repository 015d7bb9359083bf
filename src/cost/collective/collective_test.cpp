#include "cost/collective/collective.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cost/collective/machines_for_test.hpp"

namespace headway {
namespace {

using testing::machines::kGiga;
using testing::machines::kOps;
using testing::machines::level;
using testing::machines::seconds;
using testing::machines::span;
using testing::machines::two_levels;
using testing::machines::usual;
using testing::machines::wire_only;

// [COLL-2]
TEST(Coll2Ring, AllReduceInANodeMoves2TimesNMinus1OverNOfTheBuffer) {
  EXPECT_NEAR(seconds(CollectiveOp::all_reduce, 8e9, span(8, 1), two_levels(), wire_only()),
              2 * 7.0 / 8 * 8e9 / 400e9, 1e-12);
}

TEST(Coll2Ring, AllGatherAndReduceScatterMoveHalfOfAllReduce) {
  for (const auto op : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter}) {
    EXPECT_NEAR(seconds(op, 8e9, span(8, 1), two_levels(), wire_only()), 7.0 / 8 * 8e9 / 400e9,
                1e-12);
  }
}

TEST(Coll2Ring, AcrossNodesEachMemberOfANodeDrivesItsOwnRail) {
  // 4 nodes: 31/32 of the tensor leaves each node, over 8, 2 or 1 network cards.
  for (const int rails : {8, 2, 1}) {
    const double n = 4.0 * rails;
    EXPECT_NEAR(seconds(CollectiveOp::all_gather, 8e9, span(rails, 4), two_levels(), wire_only()),
                (n - 1) / n * 8e9 / (rails * 50e9), 1e-12);
  }
}

TEST(Coll2Ring, BroadcastSendsTheWholeBufferOverEachLink) {
  EXPECT_NEAR(seconds(CollectiveOp::broadcast, 8e9, span(8, 1), two_levels(), wire_only()),
              8e9 / 400e9, 1e-12);
}

TEST(Coll2Ring, EachHopTakesTheTimeOfItsOwnLevel) {
  LevelParameters p = wire_only();
  for (auto& q : p) q.ring_hop = 3, q.short_fraction = 1e-9;
  p[0].ring_step = Seconds(7e-6), p[0].ring_step_through = Seconds(3e-6);
  p[1].ring_step = Seconds(20e-6), p[1].ring_step_through = Seconds(90e-6);  // nothing beyond it
  // 1 byte on 4 nodes of 2: 3 hops between nodes of 5 us, 4 inside of 2 us.
  EXPECT_NEAR(seconds(CollectiveOp::all_gather, 1, span(2, 4), two_levels(), p),
              3 * (3 * 5e-6 + 4 * 2e-6) + 3 * 20e-6 + 4 * 3e-6, 1e-9);
  // A ring that stays inside is the one that ring_step was measured on.
  EXPECT_NEAR(seconds(CollectiveOp::all_gather, 1, span(8, 1), two_levels(), p),
              3 * 7 * 2e-6 + 7 * 7e-6, 1e-9);
}

TEST(Coll2Ring, NoLinkPassesItsMessagesFasterThanTheSlowest) {
  LevelParameters p = wire_only();
  for (auto& q : p) q.short_fraction = 1e-9, q.ring_step = Seconds(7e-6);
  p[1].ring_gap = Seconds(30e-6);
  // Through nodes of 2 or of 1 accelerator, a message for each other rank passes the slowest link.
  EXPECT_NEAR(seconds(CollectiveOp::all_gather, 1, span(2, 4), two_levels(), p), 7 * 30e-6, 1e-9);
  EXPECT_NEAR(seconds(CollectiveOp::all_gather, 1, span(1, 8), two_levels(), p), 7 * 30e-6, 1e-9);
  EXPECT_NEAR(seconds(CollectiveOp::all_gather, 1, span(2, 1), two_levels(), p), 7e-6, 1e-9);
}

TEST(Coll2Ring, TheShortProtocolAvoidsTheStepsAtALowerRate) {
  LevelParameters p = wire_only();
  for (auto& q : p) q.ring_step = Seconds(1e-3), q.short_fraction = 0.1;
  // 7/8 MB at 40 GB/s is faster than 7 steps of 1 ms.
  EXPECT_NEAR(seconds(CollectiveOp::all_gather, 1e6, span(8, 1), two_levels(), p),
              7.0 / 8 * 1e6 / 40e9, 1e-12);
}

// Steps of 17.5 ms in all under messages of 17.5 ms: at overlap o, 2·17.5 - o·17.5/2; where one is
// three times as long as the other, 4 a - o·3/4 a.
TEST(Coll2Ring, StepsRunPartlyUnderTheMessages) {
  LevelParameters p = wire_only();
  const double messages = 7.0 / 8 * 8e9 / 400e9;
  for (const double overlap : {0.0, 0.5, 1.0}) {
    for (auto& q : p) q.step_overlap = overlap, q.short_fraction = 1e-9;
    p[0].ring_step = Seconds(messages / 7);
    EXPECT_NEAR(seconds(CollectiveOp::all_gather, 8e9, span(8, 1), two_levels(), p),
                (2 - overlap / 2) * messages, 1e-9);
    p[0].ring_step = Seconds(3 * messages / 7);
    EXPECT_NEAR(seconds(CollectiveOp::all_gather, 8e9, span(8, 1), two_levels(), p),
                (4 - overlap * 3 / 4) * messages, 1e-9);
  }
}

// [COLL-3]
TEST(Coll3Tree, TwoNodesSendTheBufferOnceAndPayOneDoubling) {
  Cluster cluster = two_levels();
  cluster.levels[0] = level(8, 4000 * kGiga, 2e-6);  // never the bottleneck
  LevelParameters p = wire_only();
  for (auto& q : p) q.tree_efficiency = 1, q.tree_hop = 2;
  // 2·(2-1)/2 of the tensor over 8 rails, where a ring sends 2·15/16; one doubling between the
  // nodes and three inside.
  EXPECT_NEAR(seconds(CollectiveOp::all_reduce, 8e9, span(8, 2), cluster, p),
              8e9 / 400e9 + 2 * 5e-6 + 3 * 2 * 2e-6, 1e-12);
}

TEST(Coll3Tree, LatencyGrowsWithTheLogarithmOfTheNodes) {
  LevelParameters p = wire_only();
  for (auto& q : p) {
    q.tree_efficiency = 1, q.tree_hop = 4, q.tree_fill = Seconds(80e-6);
    q.tree_half_size = Bytes(1000);
    q.ring_hop = 1e3;
  }
  const auto time = [&](std::int64_t nodes) {
    return seconds(CollectiveOp::all_reduce, 1000, span(1, nodes), two_levels(), p);
  };
  // Half a chunk is filled: each doubling costs 4·5 us + 40 us.
  EXPECT_NEAR(time(64) - time(32), 60e-6, 1e-8);
  EXPECT_NEAR(time(256) - time(128), 60e-6, 1e-8);
}

// [COLL-4]
TEST(Coll4InNetwork, ASummingSwitchNeedsTheBufferOnceAndItsShareOnceMore) {
  Cluster cluster = two_levels();
  cluster.levels[0].in_network_reduction = true;
  EXPECT_NEAR(seconds(CollectiveOp::all_reduce, 8e9, span(8, 1), cluster, wire_only()),
              9.0 / 8 * 8e9 / 400e9, 1e-12);
}

// [COLL-5]
TEST(Coll5AllToAll, OnlyWhatLeavesTheNodeTakesTheNetwork) {
  // 32 ranks on 4 nodes: 24/32 of what a rank sends leaves its node.
  EXPECT_NEAR(seconds(CollectiveOp::all_to_all, 1e9, span(8, 4), two_levels(), wire_only()),
              24.0 / 32 * 1e9 / 50e9, 1e-12);
}

TEST(Coll5AllToAll, HasABandwidthOfItsOwnThatRingsDoNotFeel) {
  LevelParameters p = wire_only(), slow = p;
  for (auto& q : slow) q.exchange_ratio = 0.4;
  // 7/8 GB of one rank leave it in one node, at 40 % of 400 GB/s.
  EXPECT_NEAR(seconds(CollectiveOp::all_to_all, 1e9, span(8, 1), two_levels(), slow),
              7.0 / 8 * 1e9 / 160e9, 1e-12);
  for (const CollectiveOp op : kOps) {
    if (op == CollectiveOp::all_to_all) continue;
    EXPECT_EQ(seconds(op, 1e9, span(8, 4), two_levels(), slow),
              seconds(op, 1e9, span(8, 4), two_levels(), p))
        << to_name(op);
  }
  // Nothing leaves faster than the data sheet's rate.
  for (auto& q : p) q.bandwidth_efficiency = 0.8, q.exchange_ratio = 2;
  EXPECT_NEAR(seconds(CollectiveOp::all_to_all, 1e9, span(8, 1), two_levels(), p),
              7.0 / 8 * 1e9 / 400e9, 1e-12);
}

// [COLL-6]
TEST(Coll6Send, TakesALatencyAndTheMessageOverTheRate) {
  LevelParameters p = wire_only();
  for (auto& q : p) q.ring_hop = 1, q.base_latency = Seconds(3e-6);
  EXPECT_NEAR(seconds(CollectiveOp::send_receive, 1e6, span(1, 2), two_levels(), p),
              3e-6 + 5e-6 + 1e6 / 50e9, 1e-12);
}

// [COLL-1]
TEST(Coll1Share, SiblingsSplitTheLinksThatLeaveANode) {
  Cluster cluster = two_levels();
  cluster.levels[1].port_bandwidth = BytesPerSecond(100 * kGiga);  // 2 cards of each accelerator
  const auto time = [&](std::int64_t active) {
    return seconds(CollectiveOp::all_gather, 1e9, span(1, 4, active), cluster, wire_only());
  };
  EXPECT_NEAR(time(1), 0.75 * 1e9 / 100e9, 1e-12);  // alone: as much as the port carries
  EXPECT_NEAR(time(4), 0.75 * 1e9 / 100e9, 1e-12);  // 4 of 8 active: 8·50/4, just the port
  EXPECT_NEAR(time(8), 0.75 * 1e9 / 50e9, 1e-12);   // all active: their share
}

TEST(Coll1Share, OversubscriptionDividesTheRate) {
  Cluster cluster = two_levels();
  cluster.levels[1].oversubscription = 4;
  EXPECT_NEAR(seconds(CollectiveOp::all_gather, 1e9, span(8, 4), cluster, wire_only()),
              4 * 31.0 / 32 * 1e9 / 400e9, 1e-12);
}

TEST(Coll1Share, CardsOnTheProcessorCarryFiveSixths) {
  Cluster cluster = two_levels();
  cluster.levels[1].nics_on_processor = true;
  for (const auto& [per_node, rate] : {std::pair{8.0, 400e9}, std::pair{1.0, 50e9}}) {
    const double n = 4 * per_node;
    EXPECT_NEAR(seconds(CollectiveOp::all_gather, 8e9, span(static_cast<std::int64_t>(per_node), 4),
                        cluster, wire_only()),
                (n - 1) / n * 8e9 / rate * 6 / 5, 1e-12);
  }
  // What stays inside of a node does not pass the cards.
  EXPECT_NEAR(seconds(CollectiveOp::all_gather, 8e9, span(8, 1), cluster, wire_only()),
              7.0 / 8 * 8e9 / 400e9, 1e-12);
}

TEST(Coll1Share, HalfOfAMeshUsesOneOfThreeLinks) {
  Cluster cluster = two_levels();
  cluster.levels[0] = level(4, 300 * kGiga, 1e-6);
  cluster.levels[0].topology = Topology::mesh;
  EXPECT_NEAR(seconds(CollectiveOp::all_gather, 1e9, span(4, 1), cluster, wire_only()),
              0.75 * 1e9 / 300e9, 1e-12);
  EXPECT_NEAR(seconds(CollectiveOp::all_gather, 1e9, span(2, 1), cluster, wire_only()),
              0.5 * 1e9 / 100e9, 1e-12);
}

TEST(Coll1Share, ATorusGivesAnAxisItsShareOfTheLinks) {
  Cluster cluster;
  cluster.levels = {level(64, 300 * kGiga, 1e-6), level(640, 10 * kGiga, 1e-5)};
  cluster.levels[0].topology = Topology::torus;
  cluster.levels[0].dimensions = {4, 4, 4};
  LevelParameters p = wire_only();
  const auto time = [&](std::int64_t ranks) {
    return seconds(CollectiveOp::all_gather, 1e9, span(ranks, 1), cluster, p);
  };
  EXPECT_NEAR(time(64), 63.0 / 64 * 1e9 / 300e9, 1e-12);
  EXPECT_NEAR(time(16), 15.0 / 16 * 1e9 / 200e9, 1e-12);
  EXPECT_NEAR(time(4), 3.0 / 4 * 1e9 / 100e9, 1e-12);
  for (auto& q : p) q.ring_hop = 1;
  EXPECT_NEAR(time(64), 63.0 / 64 * 1e9 / 300e9 + 9e-6, 1e-12);  // 3 hops along each axis
}

// [COLL-7]
TEST(Coll7Choice, AllReduceTakesTheFasterOfRingAndTree) {
  LevelParameters p = wire_only();
  for (auto& q : p) {
    q.bandwidth_efficiency = 1, q.tree_efficiency = 0.5, q.short_fraction = 1e-9;
    q.ring_step = Seconds(10e-6), q.step_overlap = 0, q.tree_fill = Seconds(20e-6);
  }
  // 64 nodes of 1 rank. Short: 2·63 steps of 10 us against 6 doublings of 20 us, half filled.
  const double half = p[0].tree_half_size.value(), ring = 2 * 63.0 / 64 * half / 50e9 + 1260e-6;
  const double tree = 2 * 63.0 / 64 * half / 25e9 + 60e-6;
  ASSERT_LT(tree, ring);
  EXPECT_NEAR(seconds(CollectiveOp::all_reduce, half, span(1, 64), two_levels(), p), tree, 1e-9);
  // Long: the ring's full rate wins against the tree's half.
  EXPECT_NEAR(seconds(CollectiveOp::all_reduce, 1e10, span(1, 64), two_levels(), p),
              2 * 63.0 / 64 * 1e10 / 50e9 + 1260e-6, 1e-9);
}

TEST(CollectiveTime, OneRankOrNoBytesTakeNoTime) {
  for (const auto op : kOps) {
    EXPECT_EQ(seconds(op, 1e9, span(1, 1), two_levels(), usual()), 0);
    for (const double bytes : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
      EXPECT_EQ(seconds(op, bytes, span(8, 4), two_levels(), usual()), 0);
    }
  }
}

TEST(CollectiveTime, HugeAndTinyMessagesStayFinite) {
  for (const auto op : kOps) {
    for (const double bytes : {1e-300, 1.0, 1e18, 1e200}) {
      const double time = seconds(op, bytes, span(8, 1024), two_levels(), usual());
      EXPECT_TRUE(std::isfinite(time) && time > 0) << to_name(op) << bytes;
    }
  }
}

TEST(CollectiveTime, AnEmptySpanIsReadAsAlone) {
  GroupSpan unset;
  unset.ranks = 16;  // members and sharing left at zero: one rank in each node
  const double time = seconds(CollectiveOp::all_gather, 1e9, unset, two_levels(), wire_only());
  EXPECT_NEAR(time, 15.0 / 16 * 1e9 / 50e9, 1e-12);
}

// [COLL-8] 4 nodes of 8, 8 choices a token: of 1 GB of tokens a node other than the sender's gets
// what has one of its choices there, 1 - (3/4)^8, once; three such nodes over one network card.
TEST(Coll8Dispatch, SendsATokenOnceToEachNodeThatHoldsAChoice) {
  const double ranks = 32 * (1 - std::pow(31.0 / 32, 8));  // distinct ones of a token's choices
  const GroupSpan group = span(8, 4);
  const auto time = [&](double bytes, double choices) {
    return collective_time(CollectiveOp::all_to_all, Bytes(bytes), group, two_levels(), wire_only(),
                           choices)
        .value();
  };
  const double once = time(1e9 * ranks, 8);
  EXPECT_NEAR(once, 3 * (1 - std::pow(0.75, 8)) * 1e9 / 50e9, 1e-9);
  // A copy for each choice: 24 of 32 ranks lie outside.
  EXPECT_NEAR(time(8e9, 1), 0.75 * 8e9 / 50e9, 1e-12);
  // In one node a token goes to the ranks of its choices: as an exchange of those bytes.
  EXPECT_NEAR(collective_time(CollectiveOp::all_to_all, Bytes(1e9), span(8, 1), two_levels(),
                              wire_only(), 4)
                  .value(),
              7.0 / 8 * 1e9 / 400e9, 1e-12);
}

}  // namespace
}  // namespace headway
