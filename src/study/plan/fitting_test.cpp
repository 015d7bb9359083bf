// [PLAN-4] The smallest change that makes a run fit.
#include "study/plan/fitting.hpp"

#include <gtest/gtest.h>

#include "cluster/load.hpp"
#include "model/reading/load.hpp"

namespace headway {
namespace {

Run run_of(const char* model, std::int64_t dp, std::int64_t batch) {
  Run out{load_model(model).value(), load_cluster("dgx-h100").value(), {}, {}};
  out.job.sequence = 4096;
  out.job.global_batch = batch;
  out.layout.dp = dp;
  return out;
}

std::string fitted(const Run& run) {
  const Calibration calibration = calibration_for(run.cluster).value();
  EXPECT_FALSE(forecast(run, calibration).fits);
  const auto found = smallest_fitting(run, calibration);
  if (!found) return "nothing";
  EXPECT_TRUE(found->forecast.fits);
  EXPECT_EQ(found->layout.ranks(), run.layout.ranks());
  headway::Run changed = run;
  changed.layout = found->layout;
  EXPECT_TRUE(is_legal(changed));
  return changes_text(run, found->layout);
}

// 8.03 B parameters take 18 bytes each without sharded states, and 6 + 12/8 with ZeRO-1 over eight.
TEST(Fitting, SharesStatesWhereTheseAloneDoNotFit) {
  const std::string change = fitted(run_of("llama-3.1-8b", 8, 8));
  EXPECT_EQ(change.find("--zero"), 0u) << change;
  EXPECT_EQ(change.find(" --"), std::string::npos) << change;  // one field
}

// 70.6 B parameters: with 6 bytes a weight and gradient no sharding of ZeRO-1 fits on eight, and
// a tensor degree of eight leaves 8.8 B a rank with 18 bytes each: 159 GB.
TEST(Fitting, SaysNothingWhereNoOneOrTwoFieldsDo) {
  EXPECT_EQ(fitted(run_of("llama-3.1-405b", 8, 8)), "nothing");
}

// Splitting a degree over the same accelerators counts as one change, and dp follows.
TEST(Fitting, KeepsTheAcceleratorsWhereADegreeChanges) {
  headway::Run run = run_of("llama-3.1-70b", 64, 64);
  run.layout.zero = 1;
  const std::string change = fitted(run);
  EXPECT_TRUE(change.find("--tp") == 0 || change.find("--pp") == 0 || change.find("--zero") == 0)
      << change;
}

}  // namespace
}  // namespace headway
