#include "fit/own/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/formatted.hpp"
#include "cost/calibration/calibration.hpp"
#include "fit/corpus/table_for_test.hpp"
#include "fit/own/prior_for_test.hpp"
#include "forecast/forecast.hpp"
#include "layout/own_runs.hpp"
#include "platform/temporary_folder_for_test.hpp"
#include "run/run.hpp"

namespace headway {
namespace {

using testing::kPrior;
using testing::TemporaryFolder;

RunRequest request(const RunRequest& more) {
  RunRequest out = {{"model", "llama-3.1-8b"}, {"cluster", "dgx-h100"}, {"gpus", "32"},
                    {"seq", "8192"},           {"global-batch", "32"},  {"tp", "4"}};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

// A run as it was said, measured as it was.
OwnRun measured(const RunRequest& said, const RunRequest& was, double factor = 1) {
  OwnRun out;
  out.run = make_run(request(said)).value();
  out.calibration = std::make_shared<const Calibration>(calibration_for(out.run).value());
  out.predicted = forecast(out.run, *out.calibration).step_time;
  out.measured = forecast(make_run(request(was)).value(), *out.calibration).step_time * factor;
  return out;
}

RunRequest with_seq(const RunRequest& fields, const char* seq) {
  RunRequest out = fields;
  out.emplace_back("seq", seq);
  return out;
}

TEST(Explanations, NameWhatWasSetOtherwise) {
  struct Case {
    RunRequest said, was;
    const char* field;
  };
  const std::vector<Case> cases = {
      {{}, {{"unfused", "true"}}, "--unfused"},
      {{}, {{"recompute", "full"}}, "--recompute full"},
      {{{"overlap-gradients", "on"}, {"gpus", "512"}, {"tp", "1"}, {"global-batch", "512"}},
       {{"overlap-gradients", "off"}, {"gpus", "512"}, {"tp", "1"}, {"global-batch", "512"}},
       "--overlap-gradients off"},
  };
  for (const Case& each : cases) {
    std::vector<OwnRun> runs;
    for (const char* seq : {"2048", "4096", "8192"}) {
      runs.push_back(measured(with_seq(each.said, seq), with_seq(each.was, seq)));
    }
    const auto found = explanations(kPrior, runs);
    ASSERT_FALSE(found.empty()) << each.field;
    EXPECT_EQ(found.front().field, each.field);
    for (const double residual : found.front().residuals) EXPECT_NEAR(residual, 0, 1e-9);
  }
}

TEST(Explanations, AreNoneOfRunsThatAreAsPredicted) {
  EXPECT_TRUE(explanations(kPrior, {measured({}, {}), measured({}, {}, 1.02)}).empty());
}

TEST(OwnFit, GivesEachSetupItsFactor) {
  OwnRunsRead read;
  for (const double factor : {1.2, 1.21, 1.19}) read.runs.push_back(measured({}, {}, factor));
  read.runs.push_back(measured({{"precision", "fp8"}}, {{"precision", "fp8"}}, 0.9));
  const OwnFit fit = fit_own_runs(kPrior, std::move(read));
  ASSERT_EQ(fit.setups.size(), 2U);
  EXPECT_EQ(fit.setups[0].said.setup.bits, 16);
  EXPECT_GT(fit.setups[0].said.factor, 1.1);
  EXPECT_LT(fit.setups[0].said.factor, 1.2);
  EXPECT_EQ(fit.setups[1].said.setup.bits, 8);
  EXPECT_EQ(fit.setups[1].said.factor, 1);  // one run, a tenth away: chance
  // What is written says the same.
  const auto again = own_runs_from(parse_toml(to_toml(fit, {"a.csv"}, "2026-11-24"), "m").value());
  ASSERT_TRUE(again.ok()) << again.problems().front().message;
  EXPECT_NEAR(again->setups[0].factor, fit.setups[0].said.factor, 1e-4);
  EXPECT_EQ(again->setups[1].runs, 1);
}

TEST(OwnRunsRead, AreRowsOfACorpusAndRunFiles) {
  const TemporaryFolder folder;
  CorpusCells sound = complete_row();
  sound["step_time_s"] = "9";
  CorpusCells without = sound, zero = sound, negative = sound, strange = sound, fast = sound,
              failed = sound;
  without["step_time_s"] = "";
  zero["step_time_s"] = "0";
  negative["step_time_s"] = "-2";
  strange["accelerator"] = "abacus";
  fast["step_time_s"] = "0.0001";
  failed["outcome"] = "oom";
  const std::string csv = folder.write(
      "mine.csv", corpus_table({sound, without, zero, negative, strange, fast, failed}));
  const std::string run = folder.write(
      "run.toml",
      "model = 'llama-3.1-8b'\ncluster = 'dgx-h100'\ngpus = 8\nseq = 4096\nglobal-batch = 8\n"
      "recompute = 'full'\n\n[measured]\ntokens_per_s_per_gpu = 4096\n");
  const auto read = read_measured_runs({csv, run});
  ASSERT_TRUE(read.ok()) << where_text(read.problems()[0]) << read.problems()[0].message;
  ASSERT_EQ(read->runs.size(), 2U);
  EXPECT_EQ(read->runs[0].measured, Seconds(9));
  EXPECT_EQ(read->runs[1].measured, Seconds(1));  // 8 x 4,096 tokens at 8 x 4,096 a second
  EXPECT_EQ(read->unused.size(), 6U);
  for (const Problem& problem : read->unused) EXPECT_FALSE(problem.message.empty());
}

TEST(OwnRunsRead, ThatSayNothingAreRefusedWithEveryReason) {
  const TemporaryFolder folder;
  const auto refused = [](const std::vector<std::string>& files) {
    const auto read = read_measured_runs(files);
    return read ? Problems() : read.problems();
  };
  CorpusCells without = complete_row();
  for (const char* cell : {"step_time_s", "tokens_per_s_per_accel", "model_tflops_per_accel",
                           "hw_tflops_per_accel", "mfu_reported"}) {
    without[cell] = "";
  }
  EXPECT_EQ(refused({folder.write("none.csv", corpus_table({without, without}))}).size(), 2U);
  EXPECT_FALSE(refused({folder.write("columns.csv", "id,step_time_s\na,1\n")}).empty());
  EXPECT_FALSE(refused({folder.write("empty.csv", "")}).empty());
  EXPECT_FALSE(refused({folder.of("absent.csv")}).empty());
  const std::string fields =
      "model = 'llama-3.1-8b'\ncluster = 'dgx-h100'\ngpus = 8\nseq = 4096\nglobal-batch = 8\n";
  for (const char* measured :
       {"", "[measured]\n", "[measured]\nstep_time_s = 0\n", "[measured]\nstep_time_s = -1\n",
        "[measured]\nstep_time_s = 1\nmfu = 0.4\n", "[measured]\nspeed = 3\n", "measured = 3\n",
        "[measured]\nstep_time_s = nan\n", "[measured]\nstep_time_s = 1e-9\n",
        "[measured]\nstep_time_s = 1e12\n"}) {
    EXPECT_FALSE(refused({folder.write("run.toml", fields + measured)}).empty()) << measured;
  }
}

}  // namespace
}  // namespace headway
