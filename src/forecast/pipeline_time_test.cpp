// Closed forms of the pipeline's bubble.
#include "forecast/pipeline_time.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "cluster/load.hpp"
#include "forecast/forecast.hpp"
#include "model/reading/load.hpp"

namespace headway {
namespace {

// Equal stages with forward 1 s, input gradient 1.25 s and weight gradient 0.75 s.
constexpr double kForward = 1, kBackward = 2, kWeight = 0.75;

constexpr std::int64_t kMany = 1000;  // micro-batches that fill any pipeline here

double bubble(const Layout& layout, double send = 0, std::int64_t micro_batches = kMany) {
  std::vector<StageTime> stages(2);  // as two classes, whichever sets the pace
  for (StageTime& stage : stages) {
    stage.forward = Seconds(kForward);
    stage.backward = Seconds(kBackward);
    stage.weight_gradient = Seconds(kWeight);
  }
  stages[0].stages = 1;
  stages[1].stages = layout.pp - 1;
  return bubble_time(stages, layout, micro_batches, Seconds(send)).value();
}

TEST(BubbleTime, OfEqualStagesIsPpMinusOneMicroBatchesOverVpp) {  // [FORECAST-1]
  Layout layout;
  for (layout.pp = 2; layout.pp <= 64; layout.pp *= 2) {
    for (layout.vpp = 1; layout.vpp <= 4; ++layout.vpp) {
      const double expected = static_cast<double>(layout.pp - 1) * (kForward + kBackward) /
                              static_cast<double>(layout.vpp);
      EXPECT_DOUBLE_EQ(bubble(layout), expected);
    }
    layout.vpp = 1;
    layout.schedule = Schedule::gpipe;
    EXPECT_DOUBLE_EQ(bubble(layout), static_cast<double>(layout.pp - 1) * 3);
    layout.schedule = Schedule::one_f_one_b;
  }
  layout.pp = 1;
  EXPECT_EQ(bubble(layout), 0);
}

TEST(BubbleTime, OfZeroBubbleSchedules) {  // arXiv 2412.19437 table 2
  Layout layout;
  for (layout.pp = 2; layout.pp <= 64; layout.pp *= 2) {
    const double others = static_cast<double>(layout.pp - 1);
    layout.schedule = Schedule::zero_bubble;  // [FORECAST-2] (pp - 1)(F + B - 2W), B the whole
    EXPECT_NEAR(bubble(layout), others * (kForward + kBackward - 2 * kWeight), 1e-9);
    // [FORECAST-4] (pp/2 - 1)(F&B + B - 3W), less as the input's gradient takes a quarter longer
    // than the forward pass.
    layout.schedule = Schedule::dual_pipe;
    const double pairs = static_cast<double>(layout.pp) / 2 - 1;
    const double table = pairs * (kForward + kBackward + kBackward - 3 * kWeight);
    EXPECT_LE(bubble(layout), table + 1e-9);
    EXPECT_GE(bubble(layout), table - 1 - 1e-9);
  }
}

// With fewer micro-batches than stages m - 1 of them follow the first, which goes through every
// chunk of every rank, by a chunk each: (pp·vpp + m - 1)·(F + B)/vpp in all. Of one chunk a rank
// that is (pp + m - 1)·(F + B).
TEST(BubbleTime, OfFewerMicroBatchesThanStagesIsThatOfTheFirstOnesWay) {  // [FORECAST-1]
  Layout layout;
  for (layout.pp = 2; layout.pp <= 16; layout.pp *= 2) {
    for (layout.vpp = 1; layout.vpp <= 4; ++layout.vpp) {
      for (std::int64_t m = 1; m <= layout.pp; ++m) {
        const double steps = static_cast<double>(layout.pp * layout.vpp + m - 1);
        const double all = steps * (kForward + kBackward) / static_cast<double>(layout.vpp);
        EXPECT_NEAR(bubble(layout, 0, m), all - static_cast<double>(m) * (kForward + kBackward),
                    1e-12)
            << layout.pp << " " << layout.vpp << " " << m;
      }
    }
  }
}

TEST(BubbleTime, OfOneInterleavedMicroBatchHasATransferBetweenAllChunksBothWays) {
  Layout layout;  // [FORECAST-1]
  layout.pp = 8;
  layout.vpp = 4;
  EXPECT_NEAR(bubble(layout, 0.5, 1) - bubble(layout, 0, 1), 2 * (8 * 4 - 1) * 0.5, 1e-12);
}

// [FORECAST-1] Where a transfer takes longer than what can hide it, what is left of it stands in
// the stages' own times; the way of the first micro-batch has it once, not twice: in all pp·(F + B)
// + 2·(pp·vpp - 1)·send for one micro-batch, each other behind it by a chunk with its transfers.
TEST(BubbleTime, OfFewInterleavedMicroBatchesCountsNoTransferTwice) {
  Layout layout;
  layout.pp = 4;
  layout.vpp = 2;
  const double send = 5, work = kForward + kBackward, exposed = 4 * (send - work / 4);
  std::vector<StageTime> stages = {
      {4, Seconds(kForward), Seconds(kBackward), Seconds(kWeight), Seconds(exposed)}};
  for (const std::int64_t m : {1, 2, 3}) {
    const double all = static_cast<double>(m) * (work + exposed) +
                       bubble_time(stages, layout, m, Seconds(send)).value();
    const double first = 4 * work + 2 * (4 * 2 - 1) * send;
    EXPECT_NEAR(all, first + static_cast<double>(m - 1) * (work + exposed) / 2, 1e-12) << m;
  }
}

// ZB-H1 of m <= pp micro-batches: (m + pp - 1)(F + B) + W in all, B without W (arXiv 2401.10241).
TEST(BubbleTime, OfZbH1WithFewMicroBatchesIsThatOfItsDrain) {  // [FORECAST-2]
  Layout layout;
  layout.schedule = Schedule::zero_bubble;
  for (layout.pp = 2; layout.pp <= 16; layout.pp *= 2) {
    for (std::int64_t m = 1; m <= layout.pp; ++m) {
      const double all =
          static_cast<double>(m + layout.pp - 1) * (kForward + kBackward - kWeight) + kWeight;
      EXPECT_NEAR(bubble(layout, 0, m), all - static_cast<double>(m) * (kForward + kBackward),
                  1e-12);
    }
  }
}

TEST(BubbleTime, CountsATransferForEachBoundaryBothWays) {  // [FORECAST-1]
  Layout layout;
  layout.pp = 8;
  layout.vpp = 2;
  EXPECT_DOUBLE_EQ(bubble(layout, 0.5) - bubble(layout), 2 * 7 * 0.5);
}

TEST(BubbleTime, TheSlowestStageWaitsForTheOthersOnce) {  // [FORECAST-1]
  // One stage of 6 s sets the pace; the first micro-batch and the last gradient pass 3 of 3 s.
  Layout layout;
  layout.pp = 4;
  const std::vector<StageTime> stages = {{3, Seconds(1), Seconds(2), Seconds(0)},
                                         {1, Seconds(2), Seconds(4), Seconds(0)}};
  EXPECT_EQ(slowest(stages), 1u);
  EXPECT_DOUBLE_EQ(bubble_time(stages, layout, kMany, Seconds(0)).value(), 9);
}

// [FORECAST-18] Chunks of 2, 1 layers on the first rank and 1, 2 on the second, 1 s a layer in each
// direction, two micro-batches: placed by hand the first rank ends at 18 s and works 12 s.
TEST(BubbleTime, OfChunksThatDifferIsThatOfTheirSlots) {
  Layout layout;
  layout.pp = layout.vpp = 2;
  const auto chunk = [](double layers) { return ChunkTime{Seconds(layers), Seconds(layers), {}}; };
  std::vector<StageTime> stages(2);
  for (StageTime& stage : stages) stage.forward = stage.backward = Seconds(3);
  EXPECT_DOUBLE_EQ(bubble_time(stages, layout, 2, Seconds(0)).value(), 3)
      << "as if they were alike";
  stages[0].chunks = {chunk(2), chunk(1)};
  stages[1].chunks = {chunk(1), chunk(2)};
  EXPECT_DOUBLE_EQ(bubble_time(stages, layout, 2, Seconds(0)).value(), 6);
  for (StageTime& stage : stages) stage.chunks = {chunk(1.5), chunk(1.5)};
  EXPECT_DOUBLE_EQ(bubble_time(stages, layout, 2, Seconds(0)).value(), 3);
}

RC_GTEST_PROP(BubbleTime, IsAtLeastTheWaitForFirstChunks, ()) {
  Layout layout;
  layout.pp = *rc::gen::inRange(2, 9);
  layout.vpp = *rc::gen::inRange(2, 5);
  layout.schedule = *rc::gen::element(Schedule::one_f_one_b, Schedule::breadth_first);
  const std::int64_t micro_batches = layout.pp * *rc::gen::inRange(1, 5);
  std::vector<StageTime> stages(static_cast<std::size_t>(layout.pp));
  for (StageTime& stage : stages) {
    for (std::int64_t chunk = 0; chunk < layout.vpp; ++chunk) {
      const Seconds time(*rc::gen::inRange(0, 4));
      stage.chunks.push_back({time, 2 * time, time});
      stage.forward += time;
      stage.backward += 2 * time;
    }
  }
  const Seconds placed = bubble_time(stages, layout, micro_batches, Seconds(0));
  RC_ASSERT(placed >= least_bubble(stages, layout, micro_batches));
}

TEST(BubbleTime, OfEqualStagesInAForecastIsItsShareOfTheWork) {  // [FORECAST-1]
  // A stack without embedding and head, and a network that takes no time.
  const Model model = load_model("limits-mlp-12288").value();
  Cluster cluster = load_cluster("dgx-h100").value();
  Calibration calibration = calibration_for(cluster).value();
  for (Level& level : cluster.levels) {
    level.bandwidth = level.port_bandwidth = BytesPerSecond(1e40);
    level.latency = Seconds(0);
  }
  for (NetworkParameters& network : calibration.levels) {
    network.base_latency = network.tree_fill = Seconds(0);
    network.ring_step = network.ring_step_through = network.ring_gap = Seconds(0);
  }
  calibration.shared = {};
  calibration.frameworks.assign(framework_names().size(), {});
  for (const std::int64_t vpp : {1, 2}) {
    for (const std::int64_t pp : {2, 4, 8}) {
      for (const std::int64_t micro : {8, 64}) {
        headway::Run run{model, cluster, {.sequence = 2048, .global_batch = micro}, {}};
        run.layout.pp = pp;
        run.layout.vpp = vpp;
        ASSERT_TRUE(is_legal(run));
        ASSERT_EQ(model.layers() % (pp * vpp), 0);
        const Parts parts = forecast(run, calibration).parts;
        const Seconds work = parts.compute + parts.other;
        EXPECT_NEAR(parts.bubble / work,
                    static_cast<double>(pp - 1) / static_cast<double>(vpp * micro), 1e-9)
            << pp << " " << vpp << " " << micro;
      }
    }
  }
}

}  // namespace
}  // namespace headway
