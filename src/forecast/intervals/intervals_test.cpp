#include "forecast/intervals/intervals.hpp"

#include <gtest/gtest.h>

#include "cluster/load.hpp"
#include "model/reading/load.hpp"

namespace headway {
namespace {

double& of(Difficulties& difficulties, Difficulty which) {
  return difficulties[static_cast<std::size_t>(which)];
}

// [INTERVAL-1] Variances add: three times a hundredth and once 0.06 make 0.09, whose root is 0.3.
TEST(Intervals, ReachTheRootOfTheVariancesAddedOnEitherSide) {
  Spread spread;
  of(spread.above, Difficulty::any) = 0.06;
  of(spread.above, Difficulty::distance) = 0.01;
  of(spread.below, Difficulty::any) = 0.04;
  Difficulties amounts{};
  of(amounts, Difficulty::any) = 1;
  of(amounts, Difficulty::distance) = 3;
  const auto made = interval(spread, amounts, Seconds(10));
  EXPECT_NEAR(made.high.value(), 10 * std::exp(0.3), 1e-9);
  EXPECT_NEAR(made.low.value(), 10 * std::exp(-0.2), 1e-9);
}

TEST(Intervals, KnowWhatNoMeasuredRunHadAndHowFarTheyAre) {
  headway::Run measured{load_model("llama-2-7b").value(), load_cluster("dgx-h100").value(), {}, {}};
  measured.job.sequence = 4096;
  measured.layout.dp = 8;
  Reach reach;
  reach.add(measured);
  const Forecast f = forecast(measured, calibration_for(measured.cluster).value());
  const auto amounts = [&](const auto& change) {
    headway::Run run = measured;
    change(run);
    return difficulties(reach, run, f, {.split = true});
  };
  const auto at = [&](const auto& change, Difficulty which) {
    Difficulties made = amounts(change);
    return of(made, which);
  };
  const auto nothing = [](headway::Run&) {};
  for (const Difficulty news :
       {Difficulty::framework, Difficulty::accelerator, Difficulty::setup, Difficulty::distance}) {
    EXPECT_EQ(at(nothing, news), 0);
  }
  EXPECT_EQ(at(nothing, Difficulty::guessed_split), 1);
  EXPECT_EQ(at(nothing, Difficulty::guessed_batch), 0);
  const double waiting = (f.parts.exposed() + f.parts.bubble) / f.step_time;
  EXPECT_DOUBLE_EQ(at(nothing, Difficulty::waiting), waiting * waiting);

  EXPECT_DOUBLE_EQ(at([](headway::Run& run) { run.layout.dp = 64; }, Difficulty::distance), 3);
  EXPECT_DOUBLE_EQ(at([](headway::Run& run) { run.job.sequence = 8192; }, Difficulty::distance), 1);
  // Eight bits are a new setup of the same accelerator; a TPU is both.
  const auto eight_bits = [](headway::Run& run) { run.job.recipe = recipe_from("fp8"); };
  EXPECT_EQ(at(eight_bits, Difficulty::setup), 1);
  EXPECT_EQ(at(eight_bits, Difficulty::accelerator), 0);
  const auto tpu = [](headway::Run& run) { run.cluster = load_cluster("tpu-v5p").value(); };
  EXPECT_EQ(at(tpu, Difficulty::setup), 1);
  EXPECT_EQ(at(tpu, Difficulty::accelerator), 1);
  const auto jax = [](headway::Run& run) { run.job.framework = framework_from("jax").value(); };
  EXPECT_EQ(at(jax, Difficulty::framework), 1);
  EXPECT_EQ(at(jax, Difficulty::distance), 0);  // as the runs of other frameworks
  // What nobody knows is read as a framework that there is, and is new all the same.
  Difficulties unknown = difficulties(reach, measured, f, {.software = true});
  EXPECT_EQ(of(unknown, Difficulty::framework), 1);
}

TEST(Intervals, TellHowManyMeasuredRunsTheyAreOfAndHowFarFromThemARunIs) {
  headway::Run run{load_model("llama-2-7b").value(), load_cluster("dgx-h100").value(), {}, {}};
  run.job.sequence = 4096;
  run.layout.dp = 8;
  Reach reach;
  reach.add(run);
  reach.add(run);
  reach.add(run, /*timed=*/false);
  headway::Run other = run;
  other.job.framework = framework_from("jax").value();
  reach.add(other);
  run.layout.dp = 32;  // two doublings from 8
  const Nearness near = reach.nearness(run);
  EXPECT_EQ(near.runs, 3U);
  EXPECT_EQ(near.of_framework, 2U);
  EXPECT_EQ(near.on_accelerator, 3U);
  EXPECT_EQ(near.of_setup, 2U);
  EXPECT_DOUBLE_EQ(near.doublings, 2);
  run.cluster = load_cluster("tpu-v5p").value();
  EXPECT_EQ(reach.nearness(run).on_accelerator, 0U);
  EXPECT_EQ(reach.nearness(run).of_setup, 0U);
}

// Llama-3.1-405B on 16,384 H100 was once said to take from 1.15 s, 236 % MFU, to 74 s.
TEST(Intervals, FarFromAnyRunAreBoundedAndNotBelowThePeak) {
  headway::Run run{load_model("llama-3.1-405b").value(), load_cluster("dgx-h100").value(), {}, {}};
  run.job.sequence = 8192;
  run.job.global_batch = 2048;
  run.layout.dp = 128;
  run.layout.tp = 8;
  run.layout.pp = 16;
  run.layout.zero = 1;
  Forecast f = forecast(run, calibration_for(run.cluster).value());
  IntervalModel intervals;
  of(intervals.step_time.above, Difficulty::any) = of(intervals.step_time.below, Difficulty::any) =
      10;
  add_intervals(intervals, run, f);
  ASSERT_TRUE(f.step_time_interval);
  EXPECT_DOUBLE_EQ(f.step_time_interval->high / f.step_time, kFarthestFactor);
  EXPECT_DOUBLE_EQ(f.step_time / f.step_time_interval->low, kFarthestFactor);
  // 3 x 2 FLOPs for each token and parameter but the embedding's, at 989.4 TFLOP/s, and attention.
  const double parameters = 405.85e9 - 128256.0 * 16384;
  const double products = 6 * parameters * 2048 * 8192 / 16384 / 989.4e12;
  EXPECT_GT(f.least_time.value(), products);
  EXPECT_LT(f.least_time.value(), 1.1 * products);
  // A forecast of half as much again as the least time.
  f.step_time = f.least_time * 1.5;
  add_intervals(intervals, run, f);
  EXPECT_EQ(f.step_time_interval->low, f.least_time);
}

// Without it forecasts silently have no interval.
TEST(Intervals, OfTheBinaryAreThere) {
  const auto& model = embedded_interval_model();
  ASSERT_TRUE(model.ok()) << model.problems().front().message;
  EXPECT_GT(model->step_time.above[0], 0);
  EXPECT_GT(model->step_time.below[0], 0);
  EXPECT_FALSE(model->reach.frameworks.empty());
  // Every run has one framework and one accelerator.
  std::size_t on_any = 0;
  for (const auto& [name, runs] : model->reach.accelerators) on_any += runs;
  const auto gpt =
      headway::Run{load_model("gpt2").value(), load_cluster("dgx-h100").value(), {}, {}};
  EXPECT_EQ(model->reach.nearness(gpt).runs, on_any);
  EXPECT_GT(on_any, 0U);
}

}  // namespace
}  // namespace headway
