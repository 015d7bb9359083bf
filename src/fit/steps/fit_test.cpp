#include "fit/steps/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/document/document.hpp"
#include "fit/corpus/measured_runs_for_test.hpp"
#include "fit/steps/descent.hpp"
#include "fit/steps/objective.hpp"

namespace headway {
namespace {

StepConstants estimates() {
  return estimated_step_constants().value();
}

double median_error(const std::vector<MeasuredRun>& runs, const StepConstants& constants) {
  std::vector<double> errors;
  for (const auto& error : StepObjective(runs, estimates(), 1).errors(constants)) {
    errors.push_back(*error);
  }
  return summarise(errors).median;
}

TEST(StepFit, FindsTheConstantsThatTheMeasurementsWereMadeWith) {
  auto measured = runs_of_two_sources();
  ASSERT_EQ(measured.size(), 72U);
  StepConstants truth = estimates();
  truth.architectures["ampere"] = truth.architecture("ampere");
  truth.architectures["ampere"].sustained = 0.75;
  truth.frameworks["nanotron"] = truth.framework("nanotron");
  truth.frameworks["nanotron"].host_launch *= 2;
  measure(measured, truth);

  const StepFit fit = fit_steps(measured, estimates(), 1);
  EXPECT_GT(median_error(measured, estimates()), 0.05);
  EXPECT_LT(median_error(measured, fit.constants), 0.01);
  EXPECT_NEAR(fit.constants.architecture("ampere").sustained, 0.75, 0.06);  // drawn to 1
  const double ratio =
      fit.constants.framework("nanotron").host_launch / truth.framework("nanotron").host_launch;
  EXPECT_NEAR(ratio, 1, 0.1);
  EXPECT_LT(fit.loss_after, fit.loss_before);
}

TEST(StepFit, DoneQuicklyComesNearTheSameConstantsAndForgetsWhatIsLeftOut) {
  auto measured = runs_of_two_sources();
  StepConstants truth = estimates();
  truth.architectures["ampere"] = truth.architecture("ampere");
  truth.architectures["ampere"].sustained = 0.75;
  measure(measured, truth);
  const QuickFits quick(measured, estimates(), 1);
  EXPECT_LT(median_error(measured, quick.all()), 0.015);
  EXPECT_NEAR(quick.all().architecture("ampere").sustained, 0.75, 0.06);
  // Without Ampere's runs, what they alone told goes back to the estimate.
  std::vector<bool> ampere;
  std::vector<MeasuredRun> others;
  for (const MeasuredRun& run : measured) {
    ampere.push_back(run.accelerator == "A100");
    if (!ampere.back()) others.push_back(run);
  }
  const StepConstants without = quick.without(ampere);
  EXPECT_NEAR(without.architecture("ampere").sustained,
              estimates().architecture("ampere").sustained, 0.02);
  EXPECT_LT(median_error(others, without), 0.01);
}

TEST(StepFit, WhatNoRunDeterminesStaysWithTheEstimate) {
  auto measured = runs_of_two_sources();
  measure(measured, estimates());
  const StepFit fit = fit_steps(measured, estimates(), 1);
  // Nothing was off, so nothing moves; nor does what these runs do not see at all.
  EXPECT_LT(fit.loss_after, 1e-6);
  EXPECT_DOUBLE_EQ(fit.constants.framework("jax").host_launch.value(),
                   estimates().framework("jax").host_launch.value());
  EXPECT_FALSE(fit.constants.architectures.contains("cdna3"));
}

TEST(StepFit, IsTheSameWhateverTheNumberOfThreads) {
  auto measured = runs_of_two_sources();
  StepConstants truth = estimates();
  truth.shared.interference *= 1.5;
  measure(measured, truth);
  EXPECT_EQ(to_toml(fit_steps(measured, estimates(), 1), "2026-01-01"),
            to_toml(fit_steps(measured, estimates(), 3), "2026-01-01"));
}

TEST(StepFit, RenewsTheEntriesThatAreNamedAndLeavesTheOthers) {
  const std::string before =
      "# head\n\n[shared]\na = 1\n\n[framework.jax]\na = 2\n\n[network.ici]\na = 3\n";
  const std::string fitted =
      "# anew\n\n[shared]\na = 4\n\n[framework.jax]\na = 5\n\n[network.dcn]\na = 6\n";
  EXPECT_EQ(*renewed_entries(before, fitted, std::vector<std::string>{"framework.jax"}),
            "# head\n\n[shared]\na = 1\n\n[framework.jax]\na = 5\n\n[network.ici]\na = 3\n");
  const auto both =
      renewed_entries(before, fitted, std::vector<std::string>{"framework.jax", "shared"});
  EXPECT_NE(both->find("a = 4\n\n[framework.jax]\na = 5"), std::string::npos);
  const auto wrong =
      renewed_entries(before, fitted, std::vector<std::string>{"network.ici", "jax"});
  EXPECT_EQ(wrong.problems().size(), 2U);
}

TEST(StepFit, ItsTextIsReadBackAsItsConstants) {
  auto measured = runs_of_two_sources();
  StepConstants truth = estimates();
  truth.frameworks["megatron"] = truth.framework("megatron");
  truth.frameworks["megatron"].host_launch *= 0.5;
  measure(measured, truth);
  const StepFit fit = fit_steps(measured, estimates(), 1);
  const auto written = parse_toml(to_toml(fit, "2026-01-01"), "step.toml");
  ASSERT_TRUE(written.ok());
  const auto shipped = embedded_step_estimates();
  ASSERT_TRUE(shipped.ok());
  const auto read = step_constants_from(*shipped, &*written);
  ASSERT_TRUE(read.ok()) << read.problems().front().message;
  for (const char* framework : {"megatron", "nanotron", "jax"}) {
    EXPECT_NEAR(
        read->framework(framework).host_launch / fit.constants.framework(framework).host_launch, 1,
        5e-3)
        << framework;
  }
  EXPECT_NEAR(read->architecture("hopper").sustained,
              fit.constants.architecture("hopper").sustained, 5e-4);
}

// The derivative by a central difference of the loss itself, at a point away from the start.
TEST(StepObjective, ItsGradientIsTheSlopeOfItsLoss) {
  auto measured = runs_of_two_sources();
  StepConstants truth = estimates();
  truth.shared.straggling *= 3;
  measure(measured, truth);
  for (MeasuredRun& run : measured) run.memory = 30e9;
  const StepObjective objective(measured, estimates(), 1);
  std::vector<double> x(objective.size());
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = 0.1 - 0.02 * static_cast<double>(k % 11);
  for (const Decides part : {Decides::step_time, Decides::memory}) {
    std::vector<std::size_t> offsets;
    for (const OffsetStretch& stretch : objective.stretches()) {
      for (std::size_t i = 0; i < stretch.by.size(); ++i) {
        if (stretch.by[i] == part) offsets.push_back(stretch.first + i);
      }
    }
    std::vector<double> gradient(x.size());
    objective.loss(part, x, gradient.data(), offsets);
    double steepest = 0;
    for (const OffsetStretch& stretch : objective.stretches()) {
      for (std::size_t i = 0; i < stretch.by.size(); ++i) {
        const std::size_t k = stretch.first + i;
        if (stretch.by[i] != part) {
          EXPECT_EQ(gradient[k], 0);
          continue;
        }
        auto above = x, below = x;
        above[k] += 0.0025;
        below[k] -= 0.0025;
        const double slope = (objective.loss(part, above) - objective.loss(part, below)) / 0.005;
        EXPECT_NEAR(gradient[k], slope, 0.1 * std::abs(slope) + 0.05) << k;
        steepest = std::max(steepest, std::abs(slope));
      }
    }
    EXPECT_GT(steepest, 0.3);
  }
}

}  // namespace
}  // namespace headway
