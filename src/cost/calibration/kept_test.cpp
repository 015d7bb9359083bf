// A kept calibration is that of the run it is asked for, whatever was asked before.
#include "cost/calibration/kept.hpp"

#include <gtest/gtest.h>

#include "cluster/load.hpp"
#include "cluster/settings.hpp"

namespace headway {
namespace {

Run run_on(const char* cluster) {
  Run out;
  out.cluster = load_cluster(cluster).value();
  return out;
}

// Own runs of the run's setup that say its times are `factor` of what they would be.
std::shared_ptr<const OwnRuns> own_runs(const Run& run, double factor) {
  OwnSetup setup;
  setup.setup = setup_of(run.cluster.accelerator, run.job);
  setup.factor = factor;
  return std::make_shared<const OwnRuns>(OwnRuns{"mine.toml", {setup}});
}

// What tells one calibration from another here: the rate of products, of the levels, and of own
// runs.
std::vector<double> numbers_of(const Calibration& calibration, std::size_t levels) {
  std::vector<double> out = {calibration.kernels.sustained, calibration.kernels.memory_efficiency,
                             calibration.own};
  for (std::size_t i = 0; i < levels; ++i) {
    out.push_back(calibration.levels[i].bandwidth_efficiency);
    out.push_back(calibration.levels[i].ring_hop);
  }
  return out;
}

// Runs of which each differs from the one before it in one thing that calibration_for() reads.
std::vector<Run> runs_that_differ() {
  std::vector<Run> out = {run_on("dgx-h100"), run_on("dgx-a100-80gb"), run_on("dgx-h100")};
  out.push_back(out.back());
  out.back().job.software = 2022.8;
  out.push_back(run_on("dgx-h100"));
  out.back().cluster.accelerator.board_power = Watts(400);
  out.push_back(run_on("dgx-h100"));
  out.back().cluster.levels.back().network = "ib-edr";
  out.push_back(run_on("dgx-h100"));
  out.back().own = own_runs(out.back(), 1.25);
  out.push_back(run_on("dgx-h100"));
  out.back().cluster.levels.back().constants =
      parse_toml("bandwidth_efficiency = 0.5\n", "mine.toml").value();
  out.push_back(run_on("dgx-h100"));
  return out;
}

TEST(KeptCalibration, IsThatOfTheRunWhateverWasAskedBefore) {
  KeptCalibration kept;
  std::vector<double> before;
  for (const auto& run : runs_that_differ()) {
    const auto expected = calibration_for(run);
    ASSERT_TRUE(expected.ok());
    const auto numbers = numbers_of(*expected, run.cluster.levels.size());
    EXPECT_NE(numbers, before);  // or it would not matter which one is given
    before = numbers;
    for (int again = 0; again < 2; ++again) {
      const auto& found = kept.of(run);
      ASSERT_TRUE(found.ok());
      EXPECT_EQ(numbers_of(*found, run.cluster.levels.size()), numbers);
    }
  }
}

}  // namespace
}  // namespace headway
