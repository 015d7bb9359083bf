#include "fit/intervals/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/document/document.hpp"
#include "fit/corpus/measured_runs_for_test.hpp"
#include "fit/intervals/spread.hpp"

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
