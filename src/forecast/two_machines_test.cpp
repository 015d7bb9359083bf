// [FORECAST-20] A pipeline on two machines, against one machine and by hand.
#include "forecast/two_machines.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "forecast/random_run_for_test.hpp"

namespace headway {
namespace {

using testing::Case;

Case pipeline_on(const std::string& cluster) {
  Case c = testing::case_of("llama-2-13b", cluster);
  c.job.sequence = 4096;
  c.job.global_batch = 64;
  c.layout.dp = 2;
  c.layout.tp = 8;
  c.layout.pp = 4;
  c.layout.zero = 1;
  return c;
}

Forecast on_both(const Case& near, const Case& far, std::int64_t at) {
  return forecast({near, near.calibration}, {far, far.calibration}, at);
}

bool alike(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

// The first stage of the class whose parts are told.
std::int64_t told_stage(const Forecast& f) {
  std::int64_t out = 0;
  for (std::size_t i = 0; i < f.pipeline.pace; ++i) out += f.pipeline.stages[i].stages;
  return out;
}

// Of states in the hosts' memory those of the fullest rank count, and on two machines those of the
// fullest of either: no faster than on one. One machine is told by its slowest stage alone; of two,
// the slowest of the other may end later.
RC_GTEST_PROP(TwoMachines, OfOneTypeAreOneMachine, ()) {
  const Case c = testing::random_case(
      [](Case& drawn) { drawn.layout.pp = std::max<std::int64_t>(drawn.layout.pp, 2); });
  RC_PRE(c.layout.pp > 1 && c.layout.copies() == 1);
  const std::int64_t at = *rc::gen::inRange<std::int64_t>(1, c.layout.pp);
  const Forecast one = c.priced(), two = on_both(c, c, at);
  RC_ASSERT(two.step_time >= one.step_time * (1 - 1e-9));
  if (c.layout.offload_optimizer) {
    RC_ASSERT(two.parts.optimizer >= one.parts.optimizer * (1 - 1e-9));
    return;
  }
  if (told_stage(one) != told_stage(two)) return;
  for (const PartRow& row : kParts) {
    RC_ASSERT(alike(one.parts[row.part].value(), two.parts[row.part].value()));
  }
  RC_ASSERT(alike(one.mfu, two.mfu));
  // No board draws more than its rating, also where a stage has more than its share of the
  // products.
  RC_ASSERT(two.energy <= one.energy * (1 + 1e-9));
  RC_ASSERT(alike(one.busy, two.busy));
  RC_ASSERT(one.fits == two.fits);
  RC_ASSERT(one.calls.size() == two.calls.size());
  RC_ASSERT(alike(one.least_time.value(), two.least_time.value()));
}

// The slowest stage runs all micro-batches; before its first and behind its last one micro-batch
// goes through the others, and over every border twice.
TEST(TwoMachines, WaitForTheSlowerAndFillThePipelineThroughBoth) {
  const Case near = pipeline_on("dgx-h100"), far = pipeline_on("dgx-a100-80gb");
  for (const std::int64_t at : {1, 2, 3}) {
    const Forecast f = on_both(near, far, at);
    EXPECT_TRUE(f.pace_is_far);
    const StageTime& pace = f.pipeline.stages[f.pipeline.pace];
    const auto micro = static_cast<double>(micro_batches(near.job, near.layout));
    Seconds through(0);
    std::int64_t stages = 0;
    for (const StageTime& stage : f.pipeline.stages) {
      stages += stage.stages;
      through += static_cast<double>(stage.stages) * stage.total();
    }
    EXPECT_EQ(stages, near.layout.pp);
    const Seconds sends = 2 * static_cast<double>(near.layout.pp - 1) * f.pipeline.send;
    const Seconds least = through + (micro - 1) * pace.total();
    const Seconds most = through + sends + (micro - 1) * (pace.total() + pace.transfers);
    // What is not of the pipeline stands in other parts.
    const Seconds passed = micro * pace.total() + f.parts.bubble;
    EXPECT_GE(passed, least);
    EXPECT_LE(passed, most);
  }
}

// More stages on the slower machine: no faster, and between what the machines take alone.
TEST(TwoMachines, TakeNoLessThanTheFasterAndNoMoreThanTheSlowerAlone) {
  const Case near = pipeline_on("dgx-h100"), far = pipeline_on("dgx-a100-80gb");
  Seconds last = near.priced().step_time;
  Joules least_energy = std::min(near.priced().energy, far.priced().energy);
  for (const std::int64_t at : {3, 2, 1}) {
    const Forecast f = on_both(near, far, at);
    EXPECT_GE(f.step_time, last);
    EXPECT_GE(f.step_time, f.least_time);
    EXPECT_GT(f.energy, 0.5 * least_energy);
    last = f.step_time;
  }
  EXPECT_LE(last, far.priced().step_time);
}

// Of a network that takes longer for the gradients than the slower machine for all its work.
TEST(TwoMachines, AreNoFasterThanWhatEitherReducesOverItsNetwork) {
  const Case near = pipeline_on("dgx-h100");
  Case far = near;
  far.cluster.levels.back().bandwidth = far.cluster.levels.back().bandwidth / 1000;
  const Forecast f = on_both(near, far, 3);
  EXPECT_TRUE(f.pace_is_far);
  EXPECT_EQ(told_stage(f), 3);
  // A ring over two replicas sends and receives all of a rank's gradients once, half in each step.
  const double values = static_cast<double>(parameters(near.model).total) / 4 /
                        8;  // at least: the head is on it, too
  const Bytes sent(values * 2 * 0.5);
  EXPECT_GT(f.step_time, sent / far.cluster.levels.back().bandwidth);
  EXPECT_GT(f.parts.dp, 0.5 * f.step_time);
}

TEST(TwoMachines, OfOneTypeDrawWhatOneMachineDoes) {
  const Case c = pipeline_on("dgx-h100");
  EXPECT_TRUE(alike(on_both(c, c, 2).energy.value(), c.priced().energy.value()));
}

TEST(TwoMachines, FitWhereBothHoldTheirOwnStages) {
  const Case near = pipeline_on("dgx-h100");
  Case small = pipeline_on("dgx-a100-80gb");
  small.cluster.accelerator.memory = Bytes(4e9);
  const Forecast f = on_both(near, small, 3);
  EXPECT_TRUE(near.priced().fits);
  EXPECT_FALSE(f.fits);
  EXPECT_EQ(f.capacity, Bytes(4e9));
  // The first stages hold more micro-batches, and have the room.
  EXPECT_GT(f.first_memory.total(), f.capacity);
}

}  // namespace
}  // namespace headway
