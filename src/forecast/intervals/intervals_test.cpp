#include "forecast/intervals/intervals.hpp"

#include <gtest/gtest.h>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "model/load.hpp"

namespace headway {
namespace {

TEST(Intervals, AreWiderFarFromTheMeasuredRuns) {
  const Model small = load_model("llama-2-7b").value(),
              large = load_model("llama-3.1-405b").value();
  const Cluster h100 = load_cluster("dgx-h100").value(), tpu = load_cluster("tpu-v5p").value();
  Job job;
  job.sequence = 4096;
  Layout one_node, many;
  one_node.dp = 8;
  many.dp = 64;
  Reach reach;
  reach.add(small, job, one_node, h100);
  EXPECT_EQ(reach.distance(small, job, one_node, h100), 0);
  EXPECT_DOUBLE_EQ(reach.distance(small, job, many, h100), 3);  // 8 times the ranks
  Job longer = job;
  longer.sequence = 8192;
  EXPECT_DOUBLE_EQ(reach.distance(small, longer, one_node, h100), 1);
  EXPECT_GT(reach.distance(large, job, one_node, h100), 5);
  EXPECT_DOUBLE_EQ(reach.distance(small, job, one_node, tpu), 2);
  Job elsewhere = job;
  elsewhere.framework = Framework::jax;
  EXPECT_DOUBLE_EQ(reach.distance(small, elsewhere, one_node, h100), 2);

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
  const Model model = load_model("llama-3.1-405b").value();
  const Cluster cluster = load_cluster("dgx-h100").value();
  Job job;
  job.sequence = 8192;
  job.global_batch = 2048;
  Layout layout;
  layout.dp = 128;
  layout.tp = 8;
  layout.pp = 16;
  layout.zero = 1;
  Forecast f = forecast(model, job, layout, cluster, calibration_for(cluster).value());
  IntervalModel intervals;
  intervals.step_time = {{}, -1, 1};
  intervals.step_time.slopes[static_cast<std::size_t>(Difficulty::ranks)] = 10;
  add_intervals(intervals, model, job, layout, cluster, f);
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
