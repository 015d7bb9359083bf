#include "fit/intervals/intervals.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/document/document.hpp"
#include "cluster/load.hpp"
#include "fit/corpus/measured_runs_for_test.hpp"
#include "fit/intervals/fit.hpp"
#include "model/load.hpp"

namespace headway {
namespace {

// Residuals of Laplace's law at its quantiles, so that no chance is involved: of width 0.05, and
// 0.05·e^2 where the forecast is of 8 bits, in `sources` like sources.
std::vector<Residual> laplace(int sources) {
  std::vector<Residual> out;
  constexpr int kEach = 200;
  for (int s = 0; s < sources; ++s) {
    for (const double eight_bit : {0.0, 1.0}) {
      for (int i = 0; i < kEach; ++i) {
        const double p = (i + 0.5) / kEach;
        const double z = p < 0.5 ? std::log(2 * p) : -std::log(2 * (1 - p));
        Residual residual{"source " + std::to_string(s), 0.05 * std::exp(2 * eight_bit) * z, {}};
        residual.difficulties[static_cast<std::size_t>(Difficulty::any)] = 1;
        residual.difficulties[static_cast<std::size_t>(Difficulty::eight_bit)] = eight_bit;
        out.push_back(residual);
      }
    }
  }
  return out;
}

TEST(Intervals, HoldFourOfFiveRunsOfEveryDifficulty) {
  const std::vector<Residual> residuals = laplace(4);
  const Spread spread = fit_spread(residuals);
  for (const double eight_bit : {0.0, 1.0}) {
    int inside = 0, all = 0;
    for (const Residual& residual : residuals) {
      if (residual.difficulties[static_cast<std::size_t>(Difficulty::eight_bit)] != eight_bit) {
        continue;
      }
      const auto around = interval(spread, residual.difficulties, Seconds(1));
      const double measured = std::exp(residual.log_ratio);
      inside += measured >= around.low.value() && measured <= around.high.value();
      ++all;
    }
    EXPECT_NEAR(static_cast<double>(inside) / all, kIntervalCoverage, 0.02) << eight_bit;
  }
  EXPECT_NEAR(spread.slopes[static_cast<std::size_t>(Difficulty::eight_bit)], 2, 0.15);
}

TEST(Intervals, HoldFourOfFiveRunsOfASourceThatIsLikeTheOthers) {
  for (const auto& [source, coverage] : left_out_coverage(laplace(3))) {
    EXPECT_NEAR(coverage, kIntervalCoverage, 0.03) << source;
  }
}

// A source whose errors have no like elsewhere is not covered: the figure can fail.
TEST(Intervals, DoNotHoldASourceThatIsUnlikeTheOthers) {
  std::vector<Residual> residuals = laplace(2);
  for (Residual& residual : residuals) {
    if (residual.source == "source 1") residual.log_ratio += 1;
  }
  EXPECT_LT(left_out_coverage(residuals).at("source 1"), 0.2);
}

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
  elsewhere.framework = framework_from("jax").value();
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

// Both sources were measured with the same constants, so that either foretells the other.
TEST(Generalisation, OfASourceThatFollowsTheSameConstantsIsGood) {
  auto measured = runs_of_two_sources();
  StepConstants estimates = estimated_step_constants().value();
  estimates.architectures.erase("hopper");  // both alike at the start
  StepConstants truth = estimates;
  truth.shared.straggling *= 4;
  for (const char* name : {"ampere", "hopper"}) {
    truth.architectures[name] = truth.architecture(name);
    truth.architectures[name].sustained = 0.7;
  }
  measure(measured, truth);
  const auto fit = fit_intervals(measured, estimates, 1);
  ASSERT_TRUE(fit);
  ASSERT_EQ(fit->sources.size(), 2U);
  ASSERT_EQ(fit->accelerators.size(), 2U);
  for (const Generalisation& source : fit->sources) {
    EXPECT_EQ(source.rows, 36U);
    EXPECT_LT(source.fitted.median, 0.03) << source.name;
    EXPECT_LT(source.left_out.median, 0.08) << source.name;
    // No better than fitted, beyond what the priors leave of errors without noise.
    EXPECT_GE(source.left_out.median + 0.005, source.fitted.median) << source.name;
  }
}

TEST(Generalisation, StopsWhenItIsToldTo) {
  const auto fit = fit_intervals(runs_of_two_sources(), estimated_step_constants().value(), 1,
                                 [](std::size_t, std::size_t) { return false; });
  EXPECT_FALSE(fit);
}

TEST(IntervalFit, ItsTextIsReadBack) {
  IntervalFit fit;
  fit.model.step_time = {{-3, 0.5, 0.25, 1, 0.125, -0.5, 0.0625}, -1.5, 2};
  fit.model.memory = {{-4, 0, 0, 0, 0, 0, 0.5}, -0.5, 0.75};
  fit.model.reach.architectures = {"hopper", "tpu"};
  fit.model.reach.frameworks["fsdp"] = {{3, 30, 11}, {9, 36.5, 16}};
  fit.sources = {{"a source", 12, {12, 0.05, 0, 0.1, 0}, {12, 0.075, 0, 0.2, -0.025}, 0.75}};
  fit.accelerators = {{"TPU v6e (Trillium)", 3, {3, 0.1, 0, 0.2, 0}, {3, 0.3, 0, 0.4, 0.3}, {}}};
  const auto document = parse_toml(to_toml(fit, "2026-01-01"), "intervals.toml");
  ASSERT_TRUE(document.ok());
  const auto read = interval_fit_from(*document);
  ASSERT_TRUE(read.ok()) << read.problems().front().message;
  EXPECT_EQ(read->model.step_time.slopes, fit.model.step_time.slopes);
  EXPECT_EQ(read->model.memory.high, 0.75);
  EXPECT_EQ(read->model.reach.architectures, fit.model.reach.architectures);
  EXPECT_EQ(read->model.reach.frameworks.at("fsdp").most, fit.model.reach.frameworks["fsdp"].most);
  ASSERT_EQ(read->sources.size(), 1U);
  EXPECT_EQ(read->sources[0].left_out.p90, 0.2);
  EXPECT_EQ(read->sources[0].coverage, 0.75);
  ASSERT_EQ(read->accelerators.size(), 1U);
  EXPECT_EQ(read->accelerators[0].name, "TPU v6e (Trillium)");
  EXPECT_FALSE(read->accelerators[0].coverage);
}

}  // namespace
}  // namespace headway
