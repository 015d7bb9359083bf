#include "forecast/intervals/intervals.hpp"

#include <gtest/gtest.h>

#include "cluster/load.hpp"
#include "model/load.hpp"

namespace headway {
namespace {

TEST(Intervals, AreWiderFarFromTheMeasuredRuns) {
  headway::Run measured{load_model("llama-2-7b").value(), load_cluster("dgx-h100").value(), {}, {}};
  measured.job.sequence = 4096;
  measured.layout.dp = 8;
  Reach reach;
  reach.add(measured);
  const auto distance = [&](const auto& change) {
    headway::Run run = measured;
    change(run);
    return reach.distance(run);
  };
  EXPECT_EQ(reach.distance(measured), 0);
  EXPECT_DOUBLE_EQ(distance([](headway::Run& run) { run.layout.dp = 64; }),
                   3);  // 8 times the ranks
  EXPECT_DOUBLE_EQ(distance([](headway::Run& run) { run.job.sequence = 8192; }), 1);
  EXPECT_GT(distance([](headway::Run& run) { run.model = load_model("llama-3.1-405b").value(); }),
            5);
  EXPECT_DOUBLE_EQ(
      distance([](headway::Run& run) { run.cluster = load_cluster("tpu-v5p").value(); }), 2);
  EXPECT_DOUBLE_EQ(
      distance([](headway::Run& run) { run.job.framework = framework_from("jax").value(); }), 2);

  Spread spread{{}, -1, 1};
  spread.slopes[static_cast<std::size_t>(Difficulty::any)] = -2;
  spread.slopes[static_cast<std::size_t>(Difficulty::distance)] = 0.3;
  Difficulties near{}, far{};
  near[0] = far[0] = 1;
  far[static_cast<std::size_t>(Difficulty::distance)] = 2;
  const auto narrow = interval(spread, near, Seconds(10)),
             wide = interval(spread, far, Seconds(10));
  EXPECT_LT(wide.low, narrow.low);
  EXPECT_GT(wide.high, narrow.high);
}

// Llama-3.1-405B on 16,384 H100 was once said to take from 1.15 s, 236 % MFU, to 74 s.
TEST(Intervals, FarFromAnyRunAreNoWiderThanAFactorOfFourAndNotBelowThePeak) {
  headway::Run run{load_model("llama-3.1-405b").value(), load_cluster("dgx-h100").value(), {}, {}};
  run.job.sequence = 8192;
  run.job.global_batch = 2048;
  run.layout.dp = 128;
  run.layout.tp = 8;
  run.layout.pp = 16;
  run.layout.zero = 1;
  Forecast f = forecast(run, calibration_for(run.cluster).value());
  IntervalModel intervals;
  intervals.step_time = {{}, -1, 1};
  intervals.step_time.slopes[static_cast<std::size_t>(Difficulty::ranks)] = 10;
  add_intervals(intervals, run, f);
  ASSERT_TRUE(f.step_time_interval);
  EXPECT_DOUBLE_EQ(f.step_time_interval->high / f.step_time, 4);
  EXPECT_LT(f.step_time_interval->low, f.step_time);
  // 3 x 2 FLOPs for each token and parameter but the embedding's, at 989.4 TFLOP/s, and attention.
  const double parameters = 405.85e9 - 128256.0 * 16384;
  const double products = 6 * parameters * 2048 * 8192 / 16384 / 989.4e12;
  EXPECT_GT(f.step_time_interval->low.value(), products);
  EXPECT_LT(f.step_time_interval->low.value(), 1.1 * products);
}

// Without it forecasts silently have no interval.
TEST(Intervals, OfTheBinaryAreThere) {
  const auto& model = embedded_interval_model();
  ASSERT_TRUE(model.ok()) << model.problems().front().message;
  EXPECT_LT(model->step_time.low, model->step_time.high);
  EXPECT_FALSE(model->reach.frameworks.empty());
}

}  // namespace
}  // namespace headway
