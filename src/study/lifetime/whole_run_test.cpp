#include "study/lifetime/whole_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "platform/temporary_folder_for_test.hpp"

namespace headway {
namespace {

RunRequest request(std::initializer_list<std::pair<const char*, const char*>> fields) {
  RunRequest out = {{"model", "llama-2-7b"},  {"cluster", "dgx-h100"}, {"seq", "4096"},
                    {"global-batch", "1024"}, {"gpus", "256"},         {"framework", "fsdp"},
                    {"tokens", "2T"}};
  for (const auto& [name, text] : fields) out.push_back({std::string(name), std::string(text)});
  return out;
}

TEST(WholeRun, ReadsTokensWithTheirMultiplesAndUnitsOfTime) {
  const auto run =
      whole_run(request({{"tokens", "1.5B"}, {"mtbf", "1000 h"}, {"restart", "90 s"}}));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->assumed.tokens, 1.5e9);
  EXPECT_EQ(run->assumed.mtbf.value(), 3.6e6);
  EXPECT_EQ(run->cost.reliability.restart.value(), 90);
  const auto never = whole_run(request({{"mtbf", "none"}}));
  ASSERT_TRUE(never.ok());
  EXPECT_EQ(never->cost.time.failures, 0);
}

TEST(WholeRun, ReportsAllThatIsWrongWithRunAndAssumptionsAtOnce) {
  RunRequest wrong = request({{"tp", "3"},
                              {"tokens", "many"},
                              {"mtbf", "12"},
                              {"pue", "0.5"},
                              {"price", "-1"},
                              {"hardware-share", "2"},
                              {"loss-law", "chinchilla"},
                              {"step-noise", "no-such-file"}});
  const auto run = whole_run(wrong);
  ASSERT_FALSE(run.ok());
  for (const char* where : {"--tp", "--tokens", "--mtbf", "--pue", "--price", "--hardware-share",
                            "--loss-law", "no-such-file"}) {
    EXPECT_TRUE(std::any_of(run.problems().begin(), run.problems().end(),
                            [&](const Problem& problem) {
                              return where_text(problem).find(where) != std::string::npos;
                            }))
        << where;
  }
}

TEST(WholeRun, TheCriticalBatchGoesByWhatIsAskedFor) {
  // [LAW-23] By the tokens: 2 M at 100 B tokens, growing as their square root, is 2 M·√20 at 2 T.
  const auto by_tokens = whole_run(request({{"batch-law", "by-tokens"},
                                            {"critical-batch", "2M"},
                                            {"critical-batch-at", "100B"},
                                            {"critical-batch-exponent", "0.5"}}));
  ASSERT_TRUE(by_tokens.ok());
  EXPECT_NEAR(by_tokens->critical_batch, 2e6 * std::sqrt(20.0), 1e-3);
  // Published: five times the batch that takes a fifth more, 22.91 (D / 10^6)^0.47 sequences of
  // 512.
  const auto published = whole_run(request({{"batch-law", "by-tokens"}}));
  ASSERT_TRUE(published.ok());
  EXPECT_NEAR(published->critical_batch / (5 * 512 * 22.91 * std::pow(2e12 / 1e6, 0.47)), 1, 1e-4);
  // [LAW-16] Of sparse training twice the samples and three times the steps: the loss is that of
  // half the tokens, and s E0/B + t E0/C bends where B is C s/t.
  const auto dense = whole_run(request({{"critical-batch", "3M"}}));
  const auto sparse = whole_run(
      request({{"critical-batch", "3M"}, {"sparse-samples", "2"}, {"sparse-steps", "3"}}));
  ASSERT_TRUE(dense.ok() && sparse.ok());
  EXPECT_NEAR(sparse->critical_batch, dense->critical_batch * 2 / 3, 1e-3);
  EXPECT_GT(sparse->loss, dense->loss);
  // Of MLPerf's points of a language model: 4,703 sequences of 8,192 (docs/laws.md).
  const auto points = whole_run(request({{"batch-law", "llama31_405b"}}));
  ASSERT_TRUE(points.ok());
  EXPECT_NEAR(points->critical_batch / (4703 * 8192.0), 1, 0.001);
  // Of a file of one's own, in sequences of the run.
  const testing::TemporaryFolder folder;
  const std::string file = folder.write("law.toml",
                                        "[[law]]\nname = 'mine'\nunit = 'samples'\nprogress = 1e6\n"
                                        "critical_batch = 300.0\n");
  const auto own = whole_run(request({{"critical-batch", file.c_str()}}));
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->critical_batch, 300 * 4096.0);
}

TEST(WholeRun, ABatchLawThatSaysTooLittleOrTooMuchIsRefused) {
  const auto refused = [](std::initializer_list<std::pair<const char*, const char*>> fields) {
    const auto run = whole_run(request(fields));
    return run.ok() ? 0U : run.problems().size();
  };
  EXPECT_EQ(refused({{"batch-law", "by-tokens"}, {"critical-batch", "1M"}}), 2U);
  EXPECT_EQ(refused({{"sparse-steps", "0"}}), 1U);
  EXPECT_EQ(refused({{"critical-batch-exponent", "0.5"}}), 1U);
  EXPECT_EQ(refused({{"batch-law", "gpt3"}, {"critical-batch", "1M"}}), 1U);
  EXPECT_EQ(refused({{"batch-law", "kaplan"}}), 1U);
}

TEST(WholeRun, AnUnknownFieldIsComparedWithBothLists) {
  const auto run = whole_run(request({{"spare", "3"}, {"tpp", "2"}}));
  ASSERT_FALSE(run.ok());
  ASSERT_EQ(run.problems().size(), 2U);
  EXPECT_NE(run.problems()[0].message.find("'spares'"), std::string::npos);
  EXPECT_NE(run.problems()[1].message.find("'tp'"), std::string::npos);
}

TEST(WholeRun, WhatIsGivenIsTakenAndSaysSo) {
  const auto run = whole_run(request({{"price", "4"}, {"spares", "3"}, {"pue", "1.1"}}));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->cost.spare_nodes, 3);
  EXPECT_NEAR(run->cost.price,
              4 * (run->cost.accelerator_time + run->cost.spare_time).value() / 3600, 1e-3);
  for (const AssumedValue& value : run->values) {
    const bool given = value.name == "price" || value.name == "spares" || value.name == "pue" ||
                       value.name == "tokens";
    EXPECT_EQ(value.given, given) << value.name;
    EXPECT_FALSE(value.source.empty()) << value.name;
  }
}

TEST(WholeRun, NoiseOfStepsStretchesTheRunByTheSlowestRank) {
  const auto quiet = whole_run(request({}));
  const auto noisy = whole_run(request({{"step-noise", "0.01"}}));
  ASSERT_TRUE(quiet.ok() && noisy.ok());
  // The largest of 256 standard normal draws: 2.8 (Harter 1961, table 1: 2.8207).
  EXPECT_NEAR(noisy->cost.step_time / quiet->cost.step_time, 1 + 0.01 * 2.82, 5e-4);

  const testing::TemporaryFolder folder;
  const std::string path = folder.write("step_times.csv", "1.0, 1.1\n0.9\n");
  const auto measured = whole_run(request({{"step-noise", path.c_str()}}));
  ASSERT_TRUE(measured.ok());
  EXPECT_NEAR(measured->cost.step_time / quiet->cost.step_time, 1.1, 1e-9);
  folder.write("step_times.csv", "1.0\n-2\n");
  const auto wrong = whole_run(request({{"step-noise", path.c_str()}}));
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(where_text(wrong.problems().front()).find(":2"), std::string::npos);
}

// Data parallelism that hurts convergence: with the batch grown, tokens/s keep growing and the days
// to the same loss do not fall as they do.
TEST(WholeRun, AGrownBatchTakesMoreTokensForTheSameLoss) {
  const auto base = whole_run(request({{"critical-batch", "4194304"}}));
  ASSERT_TRUE(base.ok());
  const ScaledRuns scaled = by_accelerators(*base);
  int seen = 0;
  for (const ScaledRun& each : scaled.runs) {
    const double tokens = each.whole.assumed.tokens;
    if (!each.grown) {
      EXPECT_EQ(tokens, 2e12);
      EXPECT_EQ(each.whole.batch, base->batch);
      continue;
    }
    // The batch of 1,024 x 4,096 is the critical one: (1 + factor) / 2.
    EXPECT_NEAR(tokens, 2e12 * (1 + each.factor) / 2, 1e6);
    EXPECT_EQ(each.whole.batch, base->batch * each.factor);
    EXPECT_EQ(static_cast<double>(each.whole.cost.accelerators), 256 * each.factor);
    ++seen;
  }
  EXPECT_GE(seen, 5);
}

// What another number of accelerators changes is only that number and the batch: each of the runs
// is the one that its fields describe.
TEST(WholeRun, OnOtherAcceleratorsItIsTheRunOfTheirFields) {
  const auto base = whole_run(request({{"tp", "2"}}));
  ASSERT_TRUE(base.ok());
  const ScaledRuns scaled = by_accelerators(*base);
  ASSERT_GE(scaled.runs.size(), 8U);
  for (const ScaledRun& each : scaled.runs) {
    const Layout& layout = each.whole.run.layout;
    const auto asked = whole_run(
        request({{"tp", "2"},
                 {"gpus", std::to_string(layout.ranks()).c_str()},
                 {"global-batch", std::to_string(each.whole.run.job.global_batch).c_str()}}));
    ASSERT_TRUE(asked.ok());
    EXPECT_EQ(asked->forecast.step_time, each.whole.forecast.step_time);
    EXPECT_EQ(asked->assumed.checkpoint_bandwidth, each.whole.assumed.checkpoint_bandwidth);
    if (!each.grown) {
      EXPECT_EQ(asked->cost.time.total(), each.whole.cost.time.total());
    }
  }
}

}  // namespace
}  // namespace headway
