#include "fit/intervals/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/document/document.hpp"
#include "fit/corpus/measured_runs_for_test.hpp"
#include "fit/intervals/spread.hpp"

namespace headway {
namespace {

// Residuals of Laplace's law at its quantiles, so that no chance is involved: of scale 0.05, and
// three times that where there are experts, in `sources` like sources.
std::vector<Residual> laplace(int sources) {
  std::vector<Residual> out;
  constexpr int kEach = 200;
  for (int s = 0; s < sources; ++s) {
    for (const double experts : {0.0, 1.0}) {
      for (int i = 0; i < kEach; ++i) {
        const double p = (i + 0.5) / kEach;
        const double z = p < 0.5 ? std::log(2 * p) : -std::log(2 * (1 - p));
        const std::string source = "source " + std::to_string(s);
        Residual residual{source, source, 0.05 * (1 + 2 * experts) * z, {}};
        residual.difficulties[static_cast<std::size_t>(Difficulty::any)] = 1;
        residual.difficulties[static_cast<std::size_t>(Difficulty::experts)] = experts;
        out.push_back(residual);
      }
    }
  }
  return out;
}

double coverage(const std::vector<Held>& held, const std::string& source) {
  double inside = 0, all = 0;
  for (const Held& each : held) {
    if (each.source != source) continue;
    inside += each.inside;
    all += 1;
  }
  return inside / all;
}

// [INTERVAL-2] Gneiting and Raftery 2007: the width, and 2/alpha times what it is missed by.
TEST(IntervalScore, IsTheWidthAndTenTimesWhatIsMissed) {
  EXPECT_DOUBLE_EQ(interval_score(-0.2, 0.3, 0.1), 0.5);
  EXPECT_NEAR(interval_score(-0.2, 0.3, 0.5), 0.5 + 10 * 0.2, 1e-12);
  EXPECT_NEAR(interval_score(-0.2, 0.3, -0.25), 0.5 + 10 * 0.05, 1e-12);
}

// The quantile 0.9 of Laplace's law of scale b is b·ln 5, of whose square the variances are made.
TEST(Intervals, HoldFourOfFiveRunsOfEveryDifficulty) {
  const Spread spread = fit_spread(laplace(4));
  const double plain = 0.05 * std::log(5), wide = 3 * plain;
  for (const Difficulties& side : {spread.below, spread.above}) {
    EXPECT_NEAR(std::sqrt(side[static_cast<std::size_t>(Difficulty::any)]), plain, 0.05 * plain);
    EXPECT_NEAR(std::sqrt(side[static_cast<std::size_t>(Difficulty::any)] +
                          side[static_cast<std::size_t>(Difficulty::experts)]),
                wide, 0.05 * wide);
  }
  EXPECT_NEAR(coverage(held_by(spread, laplace(4)), "source 2"), kIntervalCoverage, 0.02);
}

TEST(Intervals, HoldFourOfFiveRunsOfASourceThatIsLikeTheOthers) {
  EXPECT_NEAR(coverage(held_by_others(fit_spread(laplace(3)), laplace(3)), "source 1"),
              kIntervalCoverage, 0.03);
}

// A source whose errors have no like elsewhere is not covered: the figure can fail.
TEST(Intervals, DoNotHoldASourceThatIsUnlikeTheOthers) {
  std::vector<Residual> residuals = laplace(2);
  for (Residual& residual : residuals) {
    if (residual.source == "source 1") residual.log_ratio += 1;
  }
  EXPECT_LT(coverage(held_by_others(fit_spread(residuals), residuals), "source 1"), 0.2);
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
  const auto left_out = leave_out(measured, estimates, 1);
  ASSERT_TRUE(left_out);
  const IntervalFit made = fit_intervals(measured, *left_out);
  const IntervalFit* fit = &made;
  ASSERT_EQ(fit->sources.size(), 2U);
  ASSERT_EQ(fit->accelerators.size(), 2U);
  for (const Generalisation& source : fit->sources) {
    EXPECT_EQ(source.rows, 36U);
    EXPECT_LT(source.left_out.median, 0.08) << source.name;
  }
}

TEST(Generalisation, StopsWhenItIsToldTo) {
  EXPECT_FALSE(leave_out(runs_of_two_sources(), estimated_step_constants().value(), 1,
                         [](std::size_t, std::size_t) { return false; }));
}

TEST(IntervalFit, ItsTextIsReadBack) {
  IntervalFit fit;
  fit.model.step_time.below = {0.5, 0, 0.25, 0, 0, 0.125};
  fit.model.step_time.above = {1, 0.5, 0, 0, 2};
  fit.model.memory.above = {0.75};
  fit.model.reach.accelerators = {{"h100-sxm", 12}, {"tpu-v5p", 0}};
  fit.model.reach.setups = {{"jax tpu 16", 7}};
  fit.model.reach.frameworks["fsdp"] = {{3, 30, 11}, {9, 36.5, 16}, 12};
  fit.sources = {{"a source",
                  12,
                  {12, 0.05, 0, 0.1, 0},
                  {12, 0.075, 0, 0.2, -0.025},
                  IntervalQuality{0.75, 0.7, 1.5, 2, 0.5, 0.625}}};
  fit.accelerators = {{"TPU v6e (Trillium)", 3, {3, 0.1, 0, 0.2, 0}, {3, 0.3, 0, 0.4, 0.3}, {}}};
  const auto document = parse_toml(to_toml(fit, "2026-01-01"), "intervals.toml");
  ASSERT_TRUE(document.ok());
  const auto read = interval_fit_from(*document);
  ASSERT_TRUE(read.ok()) << read.problems().front().message;
  EXPECT_EQ(read->model.step_time.below, fit.model.step_time.below);
  EXPECT_EQ(read->model.step_time.above, fit.model.step_time.above);
  EXPECT_EQ(read->model.memory.above[0], 0.75);
  EXPECT_EQ(read->model.reach.accelerators, fit.model.reach.accelerators);
  EXPECT_EQ(read->model.reach.setups, fit.model.reach.setups);
  EXPECT_EQ(read->model.reach.frameworks.at("fsdp").runs, 12U);
  EXPECT_EQ(read->model.reach.frameworks.at("fsdp").most, fit.model.reach.frameworks["fsdp"].most);
  ASSERT_EQ(read->sources.size(), 1U);
  EXPECT_EQ(read->sources[0].left_out.p90, 0.2);
  ASSERT_TRUE(read->sources[0].intervals);
  EXPECT_EQ(read->sources[0].intervals->coverage, 0.75);
  EXPECT_EQ(read->sources[0].intervals->score_by_others, 0.625);
  ASSERT_EQ(read->accelerators.size(), 1U);
  EXPECT_EQ(read->accelerators[0].name, "TPU v6e (Trillium)");
  EXPECT_FALSE(read->accelerators[0].intervals);
}

}  // namespace
}  // namespace headway
