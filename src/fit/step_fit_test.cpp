#include "fit/step_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/document.hpp"
#include "fit/corpus_forecast.hpp"
#include "fit/corpus_table_for_test.hpp"
#include "fit/step_objective.hpp"

namespace headway {
namespace {

// Runs of two sources, two accelerators and two frameworks, of many sizes, on one and more nodes.
std::vector<MeasuredRun> runs() {
  std::vector<CorpusCells> rows;
  int id = 0;
  for (const char* accelerator : {"A100", "H100"}) {
    for (const char* framework : {"NeMo", "nanotron"}) {
      for (const char* sequence : {"512", "2048", "8192"}) {
        for (const int gpus : {1, 8, 64}) {
          for (const char* width : {"1024", "4096"}) {
            rows.push_back(row_with({{"id", std::to_string(++id)},
                                     {"source_key", framework},
                                     {"accelerator", accelerator},
                                     {"framework", framework},
                                     {"n_accel", std::to_string(gpus)},
                                     {"model_name", "a model"},
                                     {"d_model", width},
                                     {"n_heads", "16"},
                                     {"n_kv_heads", "16"},
                                     {"d_ff", width},
                                     {"seq_len", sequence},
                                     {"global_batch_sequences", std::to_string(gpus * 2)},
                                     {"cp", "1"}}));
          }
        }
      }
    }
  }
  const auto corpus = read_corpus(corpus_table(rows), "test.csv");
  EXPECT_TRUE(corpus.ok());
  return measured_runs(*corpus);
}

StepConstants estimates() {
  return estimated_step_constants().value();
}

// "Measures" every run with given constants.
void measure(std::vector<MeasuredRun>& runs, const StepConstants& truth) {
  for (MeasuredRun& run : runs) {
    const Machine& machine = *run.run.machine;
    const Forecast made =
        forecast_of(run.run, in_step(machine.alone, truth, machine.cluster, machine.software));
    run.step_time = made.step_time.value();
    run.ran = made.fits;
  }
}

double median_error(const std::vector<MeasuredRun>& runs, const StepConstants& constants) {
  std::vector<double> errors;
  for (const auto& error : StepObjective(runs, estimates(), 1).errors(constants)) {
    errors.push_back(*error);
  }
  return summarise(errors).median;
}

TEST(StepFit, FindsTheConstantsThatTheMeasurementsWereMadeWith) {
  auto measured = runs();
  ASSERT_EQ(measured.size(), 72U);
  StepConstants truth = estimates();
  truth.architectures["ampere"] = truth.architecture("ampere");
  truth.architectures["ampere"].sustained = 0.75;
  truth.frameworks.at("nanotron").host_launch *= 2;
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

TEST(StepFit, WhatNoRunDeterminesStaysWithTheEstimate) {
  auto measured = runs();
  measure(measured, estimates());
  const StepFit fit = fit_steps(measured, estimates(), 1);
  // Nothing was off, so nothing moves; nor does what these runs do not see at all.
  EXPECT_LT(fit.loss_after, 1e-6);
  EXPECT_DOUBLE_EQ(fit.constants.framework("jax").host_launch.value(),
                   estimates().framework("jax").host_launch.value());
  EXPECT_FALSE(fit.constants.architectures.contains("cdna3"));
}

TEST(StepFit, IsTheSameWhateverTheNumberOfThreads) {
  auto measured = runs();
  StepConstants truth = estimates();
  truth.shared.interference *= 1.5;
  measure(measured, truth);
  EXPECT_EQ(to_toml(fit_steps(measured, estimates(), 1), "2026-01-01"),
            to_toml(fit_steps(measured, estimates(), 3), "2026-01-01"));
}

TEST(StepFit, ItsTextIsReadBackAsItsConstants) {
  auto measured = runs();
  StepConstants truth = estimates();
  truth.frameworks.at("megatron").host_launch *= 0.5;
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
  auto measured = runs();
  StepConstants truth = estimates();
  truth.shared.straggling *= 3;
  measure(measured, truth);
  const StepObjective objective(measured, estimates(), 1);
  std::vector<double> x(objective.size());
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = 0.1 - 0.02 * static_cast<double>(k % 11);
  std::vector<double> gradient(x.size());
  objective.loss(x, gradient.data());
  for (std::size_t k = 0; k < x.size(); ++k) {
    auto above = x, below = x;
    above[k] += 0.0025;
    below[k] -= 0.0025;
    const double slope = (objective.loss(above, nullptr) - objective.loss(below, nullptr)) / 0.005;
    EXPECT_NEAR(gradient[k], slope, 0.1 * std::abs(slope) + 0.05) << k;
  }
}

}  // namespace
}  // namespace headway
