// Every rank of a step beside the classes of ranks, and beside closed forms of what makes them
// differ.
#include "simulate/ranks/ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "simulate/ranks/drawn_run_for_test.hpp"

namespace headway {
namespace {

using testing::Case;
using testing::Drawn;
using testing::plain_run;

// [SIM-30] Nothing differs: all ranks of a stage do what one that stands for them does.
TEST(Ranks, OfWhichNoneDiffersTakeWhatTheirClassDoes) {
  const auto draw = rc::gen::exec([] { return testing::any_case(); });
  int tried = 0;
  std::set<std::string> joined;  // what kinds of runs were among them
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Case c = draw(rc::Random(i), 100).value();
    if (!c.legal() || !simulation_problems(c).empty()) continue;
    ++tried;
    const Drawn drawn(c, {});
    const RankedStep step = drawn.step();
    const double time = drawn.alike.step_time.value();
    ASSERT_NEAR(step.step_time.value(), time, 1e-9 * time) << testing::flags_of(c);
    ASSERT_EQ(step.ranks.size(), static_cast<std::size_t>(c.layout.ranks()));
    for (const RankTime& rank : step.ranks) {
      const RankTimeline& of_class = drawn.alike.ranks[static_cast<std::size_t>(rank.stage)];
      ASSERT_NEAR(rank.end.value(), of_class.end.value(), 1e-9 * time) << testing::flags_of(c);
      ASSERT_NEAR(rank.waits.value(), of_class.parts.bubble.value(), 1e-9 * time);
    }
    for (const PartRow& row : kParts) {
      EXPECT_NEAR(step.parts[row.part].value(), drawn.alike.parts[row.part].value(), 1e-9 * time);
    }
    if (c.layout.pp > 1) joined.insert("pipeline");
    if (c.layout.zero == 3) joined.insert("sharded");
    if (c.layout.ep > 1) joined.insert("experts");
    if (c.layout.cp > 1) joined.insert("context");
    if (c.layout.vpp > 1) joined.insert("interleaved");
    if (is_placed(c.layout.schedule)) joined.insert("placed");
  }
  EXPECT_GE(tried, 200);
  EXPECT_EQ(joined.size(), 6U);
}

// The same with every path taken that differing ranks take, by amounts that change nothing.
TEST(Ranks, ThatDifferByNothingTakeWhatTheirClassDoes) {
  Perturbations differ;
  differ.slow_ranks = {0, 3};
  differ.slow_factor = 1 + 1e-13;
  differ.slow_links = {1};
  differ.flapping = {2};
  differ.flapping_period = Seconds(1e9);
  differ.pause_every = 2;
  differ.sequence_variation = 1e-13;
  differ.slot_noise = 1e-13;
  const auto draw = rc::gen::exec([] { return testing::any_case(); });
  int tried = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const Case c = draw(rc::Random(i), 100).value();
    if (c.layout.ranks() < 4 || !c.legal() || !simulation_problems(c).empty()) continue;
    ++tried;
    const Drawn drawn(c, differ);
    const double time = drawn.alike.step_time.value();
    EXPECT_NEAR(drawn.step().step_time.value(), time, 1e-9 * time) << testing::flags_of(c);
  }
  EXPECT_GE(tried, 15);
}

// Replicas 0 ... 7 of one rank each.
std::vector<std::size_t> sets_of(Group group, const Case& c) {
  const LaneSets sets = lanes_of(group, c);
  std::vector<std::size_t> out;
  for (std::size_t l = 0; l < sets.size(); ++l) out.push_back(sets.set_of(l));
  return out;
}
TEST(Ranks, OfALaneMeetThoseOfTheirGroupsAlone) {
  using Sets = std::vector<std::size_t>;
  Case c = plain_run(8, 1);
  EXPECT_EQ(sets_of(Group::dp, c), (Sets{0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(sets_of(Group::tp, c), (Sets{0, 1, 2, 3, 4, 5, 6, 7}));
  c.layout.shard = 4;
  EXPECT_EQ(sets_of(Group::dp, c), (Sets{0, 0, 0, 0, 4, 4, 4, 4}));
  EXPECT_EQ(sets_of(Group::dp_replica, c), (Sets{0, 1, 2, 3, 0, 1, 2, 3}));
  c.layout.ep = 2;
  EXPECT_EQ(sets_of(Group::ep, c), (Sets{0, 0, 2, 2, 4, 4, 6, 6}));
  EXPECT_EQ(sets_of(Group::expert_dp, c), (Sets{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(sets_of(Group::world, c), (Sets{0, 0, 0, 0, 0, 0, 0, 0}));
  // Two ranks of a tensor group in each replica: experts on four ranks join two replicas.
  c.layout.tp = 2;
  c.layout.ep = 4;
  EXPECT_EQ(sets_of(Group::ep, c), (Sets{0, 0, 2, 2, 4, 4, 6, 6}));
}

// [SIM-30] In pure data parallelism all wait for the slow one: its kernels take f times as long.
TEST(Ranks, WaitForTheSlowOneAllOfItsTime) {
  Perturbations differ;
  differ.slow_ranks = {5};
  differ.slow_factor = 1.7;
  const Drawn drawn(plain_run(16, 3), differ);
  const RankedStep step = drawn.step();
  const Parts& alike = drawn.alike.parts;
  const double expected = 0.7 * (alike.compute + alike.optimizer).value();
  EXPECT_NEAR((step.step_time - drawn.alike.step_time).value(), expected, 1e-9 * expected);
  EXPECT_NEAR(step.ranks[5].waits.value(), 0, 1e-9);
  EXPECT_NEAR(step.ranks[6].waits.value(), expected, 1e-9 * expected);
  EXPECT_NEAR(step.ranks[6].computes.value() * 1.7, step.ranks[5].computes.value(),
              1e-9 * expected);
}

// [SIM-30] A tensor group goes at the pace of its slowest member, as if all were so slow.
TEST(Ranks, OfATensorGroupWaitForTheSlowestOfThem) {
  const Case c = plain_run(4, 3, 4);
  Perturbations one, all;
  one.slow_factor = all.slow_factor = 1.7;
  one.slow_ranks = {5};
  all.slow_ranks = {4, 5, 6, 7};
  const RankedStep step = Drawn(c, one).step(), as_slow = Drawn(c, all).step();
  EXPECT_NEAR(step.step_time.value(), as_slow.step_time.value(), 1e-12);
  EXPECT_NEAR(step.ranks[5].waits.value(), as_slow.ranks[5].waits.value(), 1e-12);
  // Its kernels alone take 1.7 times what those of the others take, and these wait for the rest.
  double kernels = 0;
  const Drawn drawn(c, one);
  for (const std::size_t slot : {0U, 1U}) {
    for (const StreamTask& task : drawn.work.usual.ranks[0].chunks[0][slot]->list.tasks()) {
      if (task.stream == kKernels) kernels += 3 * task.work.value();
    }
  }
  EXPECT_NEAR((step.ranks[4].waits - step.ranks[5].waits).value(), 0.7 * kernels, 1e-9);
}

// [SIM-30] A pipeline goes at the pace of its slowest stage: of m micro-batches in a stage that is
// f times slower, m f t of it and at most what one micro-batch takes in the others.
TEST(Ranks, OfAPipelineGoAtThePaceOfTheSlowest) {
  Case c = plain_run(2, 24, 1, 4);
  Perturbations differ;
  for (const std::int64_t rank : ranks_of(0, 1, c.layout)) differ.slow_ranks.push_back(rank);
  differ.slow_factor = 3;
  const Drawn drawn(c, differ);
  const RankedStep step = drawn.step();
  double slow = 0, others = 0;
  for (std::size_t s = 0; s < 4; ++s) {
    for (const std::size_t work : {0U, 1U}) {  // forward, backward
      const double time = drawn.work.usual.ranks[s].chunks[0][work]->time.value();
      (s == 0 ? slow : others) += s == 0 ? 24 * 3 * time : time;
    }
  }
  // Transfers, calls and the update are some of it besides.
  EXPECT_GT(step.placed.value(), slow);
  EXPECT_LT(step.placed.value(), 1.02 * (slow + others));
}

// [SIM-34] Behind every k-th slot of 2 m, whoever pauses: all ranks as often, in pure data
// parallelism; with tensor groups each member's pauses hold up all of them.
TEST(Ranks, PauseAsOftenAsTheirSlotsSay) {
  for (const bool together : {true, false}) {
    Perturbations differ;
    differ.pause = Seconds(0.25);
    differ.pause_every = 4;
    differ.pause_together = together;
    const double pauses = 2 * 6 / 4;
    EXPECT_NEAR(Drawn(plain_run(8, 6), differ).more(3).value(), pauses * 0.25, 1e-9);
    // Eight of a tensor group pause behind one slot in four, or behind up to four of four.
    const double more = Drawn(plain_run(4, 6, 8), differ).more(3).value() / (pauses * 0.25);
    EXPECT_NEAR(more, std::round(more), 1e-6);
    EXPECT_GE(more, together ? 1 - 1e-6 : 2 - 1e-6);
    EXPECT_LE(more, together ? 1 + 1e-6 : 4 + 1e-6);
  }
}

// [SIM-35] The network of all ranks at half its bandwidth is that cluster by classes; in a ring of
// all replicas one of them is enough.
TEST(Ranks, WithASlowLinkHaveTheCallsOfASlowNetwork) {
  for (const std::int64_t pp : {1, 2}) {
    const Case c = plain_run(16, 4, 2, pp);
    Case slow = c;
    for (std::size_t i = static_cast<std::size_t>(memory_levels(c.cluster));
         i < c.cluster.levels.size(); ++i) {
      slow.cluster.levels[i].bandwidth *= 0.5;
      slow.cluster.levels[i].port_bandwidth *= 0.5;
    }
    const SimulatedStep expected = simulate_step(slow, c.calibration);
    ASSERT_GT(expected.placed.value(), 1.0001 * simulate_step(c, c.calibration).placed.value());
    Perturbations differ;
    differ.link_share = 0.5;
    if (pp == 1) {
      differ.slow_links = {9};
    } else {
      for (std::int64_t r = 0; r < c.layout.ranks(); ++r) differ.slow_links.push_back(r);
    }
    EXPECT_NEAR(Drawn(c, differ).step().placed.value(), expected.placed.value(), 1e-9);
    // A neighbour that takes half of all levels is the same.
    Perturbations neighbour;
    neighbour.neighbour_share = 0.5;
    EXPECT_NEAR(Drawn(c, neighbour).step().placed.value(), expected.placed.value(), 1e-9);
  }
}

// A packed neighbour is met on the outermost level alone.
TEST(Ranks, MeetAPackedNeighbourOnTheOutermostLevel) {
  const Case c = plain_run(16, 2);
  Perturbations differ;
  differ.neighbour_share = 0.5;
  differ.neighbour_placement = Placement::packed;
  const Seconds packed = Drawn(c, differ).more();
  differ.neighbour_placement = Placement::scattered;
  const Seconds scattered = Drawn(c, differ).more();
  EXPECT_GE(packed, Seconds(0));
  EXPECT_GT(scattered, Seconds(0));
  EXPECT_LE(packed, scattered);
}

// [SIM-36] A link that is down for a fifth of each short period has four fifths of its time: what
// the calls of a node's network take, they take 5/4 of, but for a period.
TEST(Ranks, WithALinkThatFailsHaveTheRestOfItsTime) {
  const Case c = plain_run(16, 2);
  Perturbations differ;
  differ.flapping = {0};
  differ.flapping_period = Seconds(0.001);
  differ.flapping_down = 0.2;
  const Drawn drawn(c, differ);
  const Seconds calls = drawn.alike.parts.dp;
  ASSERT_GT(calls, Seconds(0.02));
  EXPECT_NEAR((drawn.more() / calls), 0.25, 0.01);
}

TEST(Ranks, OfASeedAreTheSameAndOfAnotherAreNot) {
  Perturbations differ;
  differ.slot_noise = 0.05;
  differ.sequence_variation = 0.3;
  const Drawn drawn(plain_run(4, 4, 2, 2), differ);
  EXPECT_EQ(drawn.step(7).step_time, drawn.step(7).step_time);
  EXPECT_NE(drawn.step(7).step_time, drawn.step(8).step_time);
}

}  // namespace
}  // namespace headway
