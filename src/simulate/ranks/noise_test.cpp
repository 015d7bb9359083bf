// Noise and unequal sequences beside what is known of the largest of many; what-ifs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "simulate/ranks/drawn_run_for_test.hpp"
#include "simulate/ranks/draws.hpp"
#include "simulate/ranks/failures.hpp"
#include "simulate/ranks/slot_pace.hpp"

namespace headway {
namespace {

using testing::Case;
using testing::Drawn;
using testing::plain_run;
using testing::Sampled;
using testing::sampled;

// Mean, deviation, and how often two draws lie on the same side.
TEST(Draws, AreOfTheStandardNormalDistribution) {
  const Draws draws(3);
  constexpr int kCount = 200'000;
  double sum = 0, squares = 0, cubes = 0, beside = 0, beyond = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double z = draws.normal(DrawKind::slot, i, i / 7),
                 next = draws.normal(DrawKind::slot, i + 1, i / 7);
    sum += z;
    squares += z * z;
    cubes += z * z * z;
    beside += z * next;
    beyond += z > 1.959964 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kCount, 0, 4 / std::sqrt(kCount));
  EXPECT_NEAR(squares / kCount, 1, 4 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(cubes / kCount, 0, 4 * std::sqrt(15.0 / kCount));
  EXPECT_NEAR(beside / kCount, 0, 4 / std::sqrt(kCount));
  EXPECT_NEAR(beyond / kCount, 0.025, 4 * std::sqrt(0.025 / kCount));
}

// [SIM-32] All replicas wait for the slowest: mu + sigma E[max of n], of a normal deviate of the
// time that kernels take. E[max] by integration: 1.4236, 2.3437, 2.8269, 3.2482.
TEST(Noise, OfReplicasCostsTheMeanOfTheLargest) {
  const std::vector<std::pair<std::int64_t, double>> largest = {
      {8, 1.4236}, {64, 2.3437}, {256, 2.8269}, {1024, 3.2482}};
  for (const auto& [replicas, expected] : largest) {
    Perturbations differ;
    differ.step_noise = 0.02;
    const Drawn drawn(plain_run(replicas, 1), differ);
    const double sigma = 0.02 * drawn.alike.parts.compute.value();
    const Sampled all = sampled(drawn, replicas > 64 ? 300 : 2000);
    std::printf("%ld replicas: %.4f sigma, expected %.4f\n", static_cast<long>(replicas),
                all.mean / sigma, expected);
    EXPECT_NEAR(all.mean, sigma * expected, 4 * all.error) << replicas;
    EXPECT_LT(all.error, 0.03 * sigma);
  }
}

// The kernels of a forward and of a backward slot.
std::array<double, 2> slots_of(const Drawn& drawn) {
  std::array<double, 2> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = drawn.work.usual.ranks[0].chunks[0][i]->parts.compute.value();
  }
  return out;
}

// [SIM-32] Noise of slots averages out within a step: of slots x_i it is sigma sqrt(sum x_i^2).
TEST(Noise, OfSlotsIsThatOfTheirSum) {
  Perturbations differ;
  differ.slot_noise = 0.05;
  const Drawn drawn(plain_run(64, 4), differ);
  const auto [forward, backward] = slots_of(drawn);
  const double sum = std::sqrt(4 * (forward * forward + backward * backward));
  const Sampled all = sampled(drawn, 1000);
  EXPECT_NEAR(all.mean, 0.05 * sum * 2.3437, 4 * all.error);
}

// [SIM-30] Megatron reduces the loss over its replicas behind each forward pass: they meet there,
// and what each took since then averages out no further: F, three times B and F, and B.
TEST(Noise, OfReplicasThatMeetInEachMicroBatchIsThatOfEach) {
  Perturbations differ;
  differ.slot_noise = 0.05;
  Case c = plain_run(64, 4);
  c.job.framework = framework_from("megatron").value();
  const Drawn drawn(c, differ);
  const auto [forward, backward] = slots_of(drawn);
  const double sums = forward + 3 * std::hypot(forward, backward) + backward;
  const Sampled all = sampled(drawn, 1000);
  EXPECT_NEAR(all.mean, 0.05 * sums * 2.3437, 4 * all.error);
}

// [SIM-33] Of one replica with m micro-batches: the mean is what it was, the deviation that of
// attention over sqrt(m).
TEST(Sequences, ThatAreUnequalKeepTheirMean) {
  Perturbations differ;
  differ.sequence_variation = 0.4;
  constexpr int kMicroBatches = 4;
  const Drawn drawn(plain_run(1, kMicroBatches), differ);
  double attention = 0;  // of a micro-batch
  for (const SlotWork work : {SlotWork::forward, SlotWork::backward}) {
    const SlotProgram& slot = *drawn.work.usual.ranks[0].chunks[0][static_cast<std::size_t>(work)];
    for (const StreamTask& task : slot.list.tasks()) {
      if (slot.list.name_of(task) == "attention") attention += task.work.value();
    }
  }
  ASSERT_GT(attention, 0);
  const Sampled all = sampled(drawn, 2000);
  EXPECT_NEAR(all.mean, 0, 4 * all.error);
  const double expected = 0.4 * attention * std::sqrt(kMicroBatches);
  EXPECT_NEAR(all.deviation, expected, 0.1 * expected);
}

// [SIM-31] What is added to a chain is what its tasks take when they run again.
TEST(SlotPace, OfAChainIsThatOfItsTasks) {
  for (const bool plain : {true, false}) {
    Case c = plain_run(8, 2, 4);
    if (!plain) c.layout.overlap_tensor = Choice::on;
    const Drawn drawn(c, {});
    for (const auto& slot : drawn.work.usual.ranks[0].chunks[0]) {
      const double interference = drawn.work.usual.rules.interference;
      SlotPace pace(*slot, interference);
      for (const double kernels : {0.7, 1.0, 1.3, 2.9}) {
        for (const double attention : {0.5, 1.0, 2.2}) {
          const TaskPace at{.kernels = kernels, .attention = attention, .begin = {}};
          const PacedSlot paced = pace.at(at);
          const double time = end_of(run_tasks(slot->list, interference, at)).value();
          EXPECT_NEAR(paced.parts.total().value(), time, 1e-9 * time);
          EXPECT_NEAR(paced.time.value(), time, 1e-9 * time);
        }
      }
    }
  }
}

// What of `period` a transfer has: integrated in small steps.
TEST(Outages, HoldUpWhatTravels) {
  const Outages outages{Seconds(3), Seconds(1.25), Seconds(0.7)};
  for (const double begin : {0.0, 0.4, 2.2, 7.9}) {
    for (const double work : {0.1, 1.0, 1.6, 12.3}) {
      double at = begin, left = work;
      constexpr double kStep = 1e-5;
      while (left > 0) {
        if (std::fmod(at + 0.7, 3) >= 1.25) left -= kStep;
        at += kStep;
      }
      EXPECT_NEAR(outages.through(Seconds(begin), Seconds(work)).value(), at, 1e-3);
      TaskList list;
      list.add(stream_of(Group::dp), Part::dp, Seconds(work), std::vector<TaskList::Index>(), "x");
      TaskPace pace;
      pace.outages = &outages;
      pace.over_network = 1U << stream_of(Group::dp);
      pace.begin = Seconds(begin);
      EXPECT_NEAR(end_of(run_tasks(list, 0.1, pace)).value(), at - begin, 1e-3);
    }
  }
}

// [SIM-38] Interruptions drawn one by one: what is done since the checkpoint before is lost.
TEST(Failures, LeaveTheShareOfTheTimeThatDrawnOnesLeave) {
  const Failures failures{Seconds(3.093), Seconds(0.05), Seconds(0.2), Seconds(0.01), Seconds(1)};
  EXPECT_NEAR(useful_share(failures), 0.7746, 5e-5);
  const Draws draws(11);
  constexpr int kSegments = 40'000;
  double time = 0;
  std::uint64_t drawn = 0;
  for (int i = 0; i < kSegments; ++i) {
    while (true) {
      const double next = -3.093 * std::log(draws.uniform(DrawKind::pause, drawn++));
      if (next >= 1.01) break;
      time += next + 0.25;
    }
    time += 1.01;
  }
  EXPECT_NEAR(kSegments / time, useful_share(failures), 0.01 * useful_share(failures));
}

// A step of 1F1B whose passes in those cells take `factor` of those of stage 1.
Replay slowed(std::int64_t dp, std::int64_t micro_batches, double factor,
              const std::vector<std::pair<std::int64_t, std::int64_t>>& cells) {
  Case c = plain_run(dp, micro_batches, 1, 4);
  c.job.framework = framework_from("fsdp").value();  // as many layers in each stage
  const Drawn alike(c, {});
  const auto passes = [&](std::int64_t stage) {
    const auto& slots = alike.work.usual.ranks[static_cast<std::size_t>(stage)].chunks[0];
    return slots[0]->time + slots[1]->time;
  };
  Perturbations differ;
  differ.slow_factor = factor * (passes(1) / passes(cells.front().first));
  for (const auto& [stage, lane] : cells) {
    for (const std::int64_t rank : ranks_of(stage, lane, c.layout)) {
      differ.slow_ranks.push_back(rank);
    }
  }
  std::sort(differ.slow_ranks.begin(), differ.slow_ranks.end());
  const Drawn drawn(c, differ);
  std::vector<RankedStep> steps;
  steps.push_back(drawn.step(0, {.pipelines = true}));
  return *summary_of(drawn.work, std::move(steps)).what_if;
}

std::size_t largest_of(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

// [SIM-37] Two of the jobs that ByteDance released, by their layout and what the passes of their
// cause take: 1.973 of a worker 2.4 times slower, 1.179 of a last stage 1.6 times slower. What
// varies besides in the jobs is not there.
TEST(WhatIf, OfReleasedJobsIsAboutWhatTheirStudyFound) {
  const Replay worker = slowed(4, 32, 2.4, {{0, 0}});
  std::printf("slow worker: %.3f (1.973), without stage 0 %.3f (1.979), 1 %.3f (0.997)\n",
              worker.slowdown, worker.slowdown_without_stage[0], worker.slowdown_without_stage[1]);
  EXPECT_NEAR(worker.slowdown, 1.973, 0.1);
  EXPECT_NEAR(worker.slowdown_without_stage[0], 1.979, 0.1);
  EXPECT_EQ(largest_of(worker.slowdown_without_worker), 0U);
  const Replay stage = slowed(2, 4, 1.6, {{3, 0}, {3, 1}});
  std::printf("slow last stage: %.3f (1.179), by itself %.3f (1.232)\n", stage.slowdown,
              stage.slowdown_without_stage[3]);
  EXPECT_NEAR(stage.slowdown, 1.179, 0.06);
  EXPECT_NEAR(stage.slowdown_without_stage[3], 1.232, 0.06);
  EXPECT_EQ(largest_of(stage.slowdown_without_stage), 3U);
}

}  // namespace
}  // namespace headway
