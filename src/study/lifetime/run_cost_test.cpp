#include "study/lifetime/run_cost.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "model/reading/load.hpp"

namespace headway {
namespace {

struct Case : Run {
  Forecast forecast;
  RunAssumptions assumed;
  PowerConstants power;

  RunCost cost() const { return run_cost(*this, forecast, assumed, power); }
};

// A step of 10 s on 1,024 H100, of 4 M tokens.
Case usual_case() {
  Case out;
  out.model = load_model("llama-2-70b").value();
  out.job.sequence = 4096;
  out.job.global_batch = 1024;
  out.layout.dp = 128;
  out.layout.tp = 8;
  out.cluster = load_cluster("dgx-h100").value();
  out.forecast.step_time = Seconds(10);
  out.forecast.busy = 0.6;
  out.assumed = default_assumptions(out.cluster, 1024).value();
  out.assumed.tokens = 2e12;
  out.power = step_constants()->power;
  return out;
}

// [SCALE-16] BLOOM, 176 B: 329 GB of bf16 weights and 2.3 TB with optimiser states, as BigScience
// reported of its checkpoints (in powers of 1024).
TEST(RunCost, ACheckpointIsAsLargeAsThatOfBloom) {
  Job job;
  job.recipe = recipe_from("bf16");
  const Model bloom = load_model("bloom-176b").value();
  EXPECT_NEAR(checkpoint_bytes(bloom, job).value() / std::pow(1024, 4), 2.3, 0.06);
  job.optimizer = Optimizer::sgd;
  EXPECT_LT(checkpoint_bytes(bloom, job).value() / std::pow(1024, 4), 2.3);
}

// [SCALE-17] 2e12 tokens in steps of 4,194,304 tokens; nothing fails, nothing is saved but once.
TEST(RunCost, WithoutFailuresARunTakesItsSteps) {
  Case run = usual_case();
  run.assumed.mtbf = Seconds(0);
  run.assumed.checkpoint_size = Bytes(0);
  const RunCost cost = run.cost();
  EXPECT_EQ(cost.steps, std::ceil(2e12 / 4'194'304));
  EXPECT_NEAR(cost.time.total().value(), 10 * cost.steps, 1e-6);
  EXPECT_EQ(cost.time.goodput, 1);
  EXPECT_EQ(cost.spare_nodes, 0);
  EXPECT_EQ(cost.early.value(), cost.late.value());
  EXPECT_NEAR(cost.accelerator_time.value(), 10 * cost.steps * 1024, 1e-3);
  EXPECT_NEAR(cost.price, 10 * cost.steps * 1024 / 3600 * 2.5, 1e-3);
}

// [SCALE-18] Energy of 1,024 accelerators with hosts under a PUE, and what follows from it.
TEST(RunCost, EnergyPriceAndCarbonSumOverWhatTheRunDoes) {
  Case run = usual_case();
  run.assumed.pue = 1.25;
  run.assumed.carbon = 0.4;
  const RunCost cost = run.cost();
  const RunEnergy& e = cost.energy;
  // A power of two each: their sum is 63 only where every part counts once.
  RunEnergy parts;
  double next = 1;
  for (Joules* part : {&parts.training, &parts.checkpoints, &parts.lost_work, &parts.restarts,
                       &parts.waiting, &parts.spares}) {
    *part = Joules(next);
    next *= 2;
  }
  EXPECT_EQ(parts.total().value(), 63);
  const double host = 575 * run.power.host;
  EXPECT_NEAR(e.training.value(),
              1.25 * cost.time.training.value() * 1024 * (cost.accelerator_power.value() + host),
              1);
  EXPECT_NEAR(e.restarts.value(), 1.25 * cost.time.restarts.value() * 1024 * (70 + host), 1);
  EXPECT_GT(e.spares.value(), 0);
  EXPECT_NEAR(cost.carbon, 0.4 * e.total().value() / 3.6e6, 1e-6);
  EXPECT_NEAR(
      cost.price,
      2.5 * cost.time.total().value() / 3600 * static_cast<double>(1024 + cost.spare_accelerators),
      1e-3);
}

TEST(RunCost, IntervalsAreWholeStepsAndHeldToWhatWasAsked) {
  Case run = usual_case();
  const RunCost best = run.cost();
  const double steps = best.interval / best.step_time;
  EXPECT_NEAR(steps, std::round(steps), 1e-9);
  for (const double factor : {0.3, 3.0}) {
    run.assumed.interval = best.interval * factor;
    EXPECT_LT(run.cost().time.goodput, best.time.goodput);
  }
  run.assumed.interval = Seconds(1);  // less than a step
  EXPECT_EQ(run.cost().interval.value(), 10);
}

TEST(RunCost, AWriteBesideTrainingLosesLessThanOneThatStopsIt) {
  Case run = usual_case();
  run.assumed.checkpoint_bandwidth = BytesPerSecond(10e9);
  const RunCost stops = run.cost();
  run.assumed.checkpoint_blocking = Seconds(2);
  const RunCost beside = run.cost();
  EXPECT_GT(beside.time.goodput, stops.time.goodput);
  EXPECT_GE(beside.interval, beside.reliability.hidden_write - beside.step_time);
  run.assumed.checkpoint_blocking = Seconds(1e6);  // no longer than the write
  EXPECT_EQ(run.cost().time.goodput, stops.time.goodput);
}

TEST(RunCost, AStepTakesTheEnergyThatItsForecastSays) {  // [FORECAST-6]
  Case run = usual_case();
  for (const Recompute recompute : {Recompute::none, Recompute::full}) {
    run.layout.recompute = recompute;
    run.forecast = forecast(run, calibration_for(run.cluster).value());
    const Joules step = run.cost().accelerator_power * 1024 * run.forecast.step_time;
    EXPECT_DOUBLE_EQ(step.value(), run.forecast.energy.value());
  }
}

TEST(RunCost, StragglersStretchTheRunInProportion) {
  Case run = usual_case();
  const RunCost plain = run.cost();
  run.assumed.slowest_share = 0.1;
  const RunCost slow = run.cost();
  EXPECT_NEAR(slow.time.training / plain.time.training, 1.1, 1e-12);
  EXPECT_LT(slow.accelerator_power, plain.accelerator_power);
}

// arXiv 2407.21783: over 90 % effective training time on 16,384 H100 with its interruptions, 466
// (unexpected and planned) in 54 days.
TEST(RunCost, TheGoodputOfLlama31IsAboveNinetyPercentAsReported) {
  Case run = usual_case();
  run.model = load_model("llama-3.1-405b").value();
  run.job = {.sequence = 8192, .global_batch = 2048};
  run.layout.dp = 2048;
  run.assumed = default_assumptions(run.cluster, 16'384).value();
  run.assumed.tokens = 15.6e12;
  run.assumed.mtbf = run.assumed.mtbf * (419.0 / 466);
  const RunCost cost = run.cost();
  EXPECT_NEAR(cost.time.failures * (54 * 86'400.0) / cost.time.total().value(), 466, 5);
  EXPECT_GT(cost.time.goodput, 0.90);
  EXPECT_LT(cost.time.goodput, 0.95);
}

TEST(RunCost, ARunThatFailsBeforeEachCheckpointIsHopeless) {
  Case run = usual_case();
  EXPECT_FALSE(run.cost().hopeless);
  run.assumed.mtbf = Seconds(3600);  // one in 3.5 s
  EXPECT_TRUE(run.cost().hopeless);
}

}  // namespace
}  // namespace headway
