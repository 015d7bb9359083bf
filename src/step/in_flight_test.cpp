// Micro-batches in flight, and what two copies of the model hold.
#include <gtest/gtest.h>

#include "step/case_for_test.hpp"
#include "step/passes/pipeline.hpp"
#include "step/schedule/in_flight_for_test.hpp"

namespace headway::testing {
namespace {

// [STEP-12] In micro-batches of the stage's own layers. 1F1B: pp - stage, at most m (arXiv
// 2104.04473 §2.2); interleaved: pp + (pp - 1)/vpp on the first stage (2205.05198 §4.2.3 for L/p
// layers); GPipe all; ZB-H1 pp (2401.10241); DualPipe pp + 1 (2412.19437 table 2).
TEST(InFlight, FollowsTheSchedule) {
  Layout layout;
  EXPECT_EQ(in_flight(layout, 0, 100), 1);
  layout.pp = 8;
  for (std::int64_t stage = 0; stage < 8; ++stage) {
    EXPECT_EQ(in_flight(layout, stage, 100), 8 - stage);
    EXPECT_EQ(in_flight(layout, stage, 3), std::min<std::int64_t>(3, 8 - stage));
  }
  for (layout.vpp = 2; layout.vpp <= 6; ++layout.vpp) {
    EXPECT_DOUBLE_EQ(in_flight(layout, 0, 100), 8 + 7.0 / static_cast<double>(layout.vpp));
    EXPECT_LE(in_flight(layout, 0, 4), 4);
  }
  layout.vpp = 1;
  layout.schedule = Schedule::gpipe;
  EXPECT_EQ(in_flight(layout, 5, 100), 100);
  layout.schedule = Schedule::zero_bubble;
  EXPECT_EQ(in_flight(layout, 0, 100), 8);
  layout.schedule = Schedule::zero_bubble_v;
  EXPECT_EQ(in_flight(layout, 0, 100), 8);
}

// [STEP-12] The closed forms are what the orders come to, in units of all that a rank holds.
TEST(InFlight, IsWhatTheOrderKeeps) {
  for (std::size_t s = 0; s < kScheduleNames.size(); ++s) {
    Layout layout;
    layout.schedule = static_cast<Schedule>(s);
    for (layout.pp = 2; layout.pp <= 8; layout.pp += 2) {
      for (layout.vpp = 1; layout.vpp <= (takes_virtual_stages(layout.schedule) ? 3 : 1);
           ++layout.vpp) {
        for (std::int64_t m = 2 * layout.pp; m <= 4 * layout.pp; m += layout.pp) {
          const Pipeline pipeline = pipeline_of(layout, m);
          const auto chunks = static_cast<std::size_t>(pipeline.chunks());
          for (std::int64_t rank = 0; rank < layout.pp; ++rank) {
            EXPECT_DOUBLE_EQ(in_flight(layout, rank, m),
                             testing::most_in_flight(rank_order(pipeline, rank),
                                                     std::vector<double>(chunks, 1)) /
                                 static_cast<double>(chunks))
                << kScheduleNames[s] << " pp " << layout.pp << " m " << m << " rank " << rank;
          }
        }
      }
    }
  }
}

// [STEP-9], [STEP-12] arXiv 2412.19437 table 2: twice the parameters of 1F1B, and p + 1
// micro-batches in flight of a stage each, where 1F1B's first rank has p: a micro-batch goes
// through one of the two stages that a rank holds.
TEST(DualPipe, HoldsTwoStagesAndOneMicroBatchMore) {
  Case c = case_of("limits-mlp-12288");
  c.job.global_batch = 64;
  c.layout.pp = 4;
  const auto kept = [&] {  // by the micro-batches in flight beyond the one in work
    const Memory held = c.lowered().held.memory;
    return std::pair(held.in_flight.value(), held.optimizer.value());
  };
  const auto [of_three, states] = kept();
  c.layout.schedule = Schedule::dual_pipe;
  const auto [of_dual, states_twice] = kept();
  // 4 - 1 of a stage; (5 - 2) of a stage, one in work in each of two.
  EXPECT_DOUBLE_EQ(of_dual, of_three);
  EXPECT_DOUBLE_EQ(states_twice, 2 * states);
}

// [STEP-10] Of the gradients of its two stages ZeRO-1 leaves half to each of two ranks: that much
// is added to what the other copy's rank has of them.
TEST(DualPipe, AddsTheGradientsOfBothCopies) {
  Case c = case_of("limits-mlp-12288");
  c.job.global_batch = 64;
  c.layout.pp = 4;
  c.layout.dp = 2;
  c.layout.zero = 1;
  c.layout.schedule = Schedule::dual_pipe;
  const Step step = c.lowered();
  for (const StageClass& stage : step.stages) {
    double added = 0, reduced = 0;
    for (const Call& call : only<Call>(stage.items)) {
      if (call.group == Group::copies) added += call.bytes.value() * call.count;
      if (call.group == Group::dp && call.phase == Phase::gradient) {
        reduced += call.bytes.value() * call.count;
      }
    }
    EXPECT_GT(added, 0);
    EXPECT_NEAR(added, reduced / 2, 1e-9 * added);
  }
}

TEST(DualPipe, HoldsTheParametersTwice) {  // [STEP-9] arXiv 2412.19437 table 2
  Case c = case_of("limits-mlp-12288");
  c.job.global_batch = 64;
  c.layout.pp = 4;
  const double once = c.lowered().held.memory.parameters.value();
  c.layout.schedule = Schedule::dual_pipe;
  EXPECT_DOUBLE_EQ(c.lowered().held.memory.parameters.value(), 2 * once);
}

}  // namespace
}  // namespace headway::testing
