#include "fit/validation.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "fit/corpus_table_for_test.hpp"

namespace headway {
namespace {

// A predicted row of one contest.
ValidationRow timed(double measured, double predicted) {
  ValidationRow row;
  row.source_key = "a";
  row.outcome = "ok";
  row.measured_step_time = measured;
  row.predicted_step_time = predicted;
  row.contest = "c";
  return row;
}

TEST(Validation, ErrorsAreRelativeToTheMeasurement) {
  const auto report = summarise({timed(10, 11), timed(10, 8), timed(10, 13)}, ValidateBy::source);
  ASSERT_EQ(report.groups.size(), 1U);
  const ErrorSummary& errors = report.groups[0].step_time;  // +0.1, -0.2, +0.3
  EXPECT_EQ(errors.rows, 3U);
  EXPECT_NEAR(errors.median, 0.2, 1e-12);
  EXPECT_NEAR(errors.mean, 0.2, 1e-12);
  EXPECT_NEAR(errors.p90, 0.28, 1e-12);  // 0.2 + 0.8·0.1
  EXPECT_NEAR(errors.bias, 0.1, 1e-12);
}

TEST(Validation, RegretIsWhatThePredictedBestCostsOverTheMeasuredBest) {
  // Predicted best: the second row, measured 12, best measured 10.
  const auto report = summarise(
      {timed(10, 5), timed(12, 4), timed(14, 6), timed(16, 7), timed(18, 8)}, ValidateBy::source);
  const RankingSummary& ranking = report.all.ranking;
  EXPECT_EQ(ranking.contests, 1U);
  EXPECT_NEAR(ranking.regret, 0.2, 1e-12);
  EXPECT_NEAR(ranking.spearman, 0.9, 1e-12);  // one swap of neighbours: 1 - 6·2/(5·24)
}

TEST(Validation, FewLayoutsAreNoContest) {
  EXPECT_EQ(summarise({timed(1, 1), timed(2, 2), timed(3, 3), timed(4, 4)}, ValidateBy::source)
                .all.ranking.contests,
            0U);
}

TEST(Validation, RunsOutOfMemoryCountInTheConfusionOnly) {
  ValidationRow burst = timed(10, 20);
  burst.outcome = "oom";
  burst.predicted_fits = false;
  ValidationRow ran = timed(10, 10);
  ran.predicted_fits = true;
  const auto report = summarise({burst, ran}, ValidateBy::source);
  EXPECT_EQ(report.all.step_time.rows, 1U);
  EXPECT_EQ(report.all.fits.not_not, 1);
  EXPECT_EQ(report.all.fits.fits_fits, 1);
  EXPECT_EQ(report.all.fits.balanced_accuracy(), 1.0);
}

TEST(Validation, GroupsByScaleStandInTheirOrder) {
  ValidationRow small = timed(1, 1), large = timed(1, 1), huge = timed(1, 1);
  small.n_accel = 8;
  large.n_accel = 64;
  huge.n_accel = 4096;
  const auto report = summarise({huge, large, small}, ValidateBy::scale);
  ASSERT_EQ(report.groups.size(), 3U);
  EXPECT_EQ(report.groups[0].name, "1-8");
  EXPECT_EQ(report.groups[1].name, "33-64");
  EXPECT_EQ(report.groups[2].name, "1025-");
}

TEST(Validation, MeasuredTimeFollowsFromTokensOrFlopsWhereNotStated) {
  const auto report =
      validate(corpus_table({row_with({{"step_time_s", ""}, {"tokens_per_s_per_accel", "16384"}}),
                             row_with({{"step_time_s", ""}, {"mfu_reported", "50"}}),
                             row_with({{"step_time_s", ""}})}),
               "x", ValidateBy::source);
  ASSERT_TRUE(report.ok());
  // 128 sequences of 8,192 tokens on 8 accelerators at 16,384 tokens/s each.
  EXPECT_NEAR(*report->rows[0].measured_step_time, 8, 1e-9);
  // 6·7.5e9 FLOPs a token and 12·32·4096·8192 for attention: 6.08e16 at 8·0.5·989.4e12/s, 15.2 s.
  EXPECT_NEAR(*report->rows[1].measured_step_time, 15.2, 0.2);
  EXPECT_EQ(report->rows[2].skipped_reason, "cell missing: step_time_s");
}

TEST(Validation, RowsAreWrittenWithTheStatedColumns) {
  const auto report =
      validate(corpus_table({row_with({{"recompute", ""}}), row_with({{"n_accel", ""}})}), "x",
               ValidateBy::source);
  const std::string csv = to_csv(report->rows);
  const auto table = parse_csv(csv, "rows.csv");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->header, (std::vector<std::string>{
                               "id", "source_key", "outcome", "n_accel", "measured_step_time_s",
                               "predicted_step_time_s", "error", "measured_memory_gb",
                               "predicted_memory_gb", "predicted_fits", "interval_low_s",
                               "interval_high_s", "assumed", "skipped_reason"}));
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->rows[0].cells[4], "10");
  EXPECT_NE(table->rows[0].cells[5], "");
  EXPECT_EQ(table->rows[0].cells[12].rfind("recompute=", 0), 0U);
  EXPECT_EQ(table->rows[1].cells[5], "");
  EXPECT_EQ(table->rows[1].cells[13], "cell missing: n_accel");
}

TEST(Validation, EveryRowOfTheTrainingCorpusIsPredictedOrHasAReason) {
  std::ifstream file(std::string(HEADWAY_SOURCE_DIR) + "/data/measurements/training.csv");
  std::stringstream text;
  text << file.rdbuf();
  const auto report = validate(text.str(), "training.csv", ValidateBy::source);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->rows.size(), 5846U);
  std::size_t rows = 0;
  for (const ValidationGroup& group : report->groups) {
    std::size_t counted = group.predicted;
    for (const auto& [reason, count] : group.skipped) {
      EXPECT_FALSE(reason.empty());
      counted += count;
    }
    EXPECT_EQ(counted, group.rows) << group.name;
    rows += group.rows;
  }
  EXPECT_EQ(rows, report->rows.size());
  EXPECT_EQ(report->groups.size(), 18U);
  // Of these 5,846, the share that must stay predictable.
  EXPECT_GE(report->all.predicted, 5700U);
  for (const ValidationRow& row : report->rows) {
    if (!row.predicted()) continue;
    EXPECT_GT(row.predicted_step_time.value_or(0), 0) << row.id;
    EXPECT_GT(row.predicted_memory.value_or(0), 0) << row.id;
    EXPECT_EQ(row.error().has_value(), row.outcome == "ok") << row.id;
  }
}

}  // namespace
}  // namespace headway
