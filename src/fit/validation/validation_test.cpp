#include "fit/validation/validation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "base/source_dir_for_test.hpp"
#include "fit/corpus/table_for_test.hpp"

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

TEST(Validation, ARunOutOfMemoryThatALargerOneContradictsIsNoVerdict) {
  ValidationRow burst = timed(10, 20);
  burst.outcome = "oom";
  burst.predicted_fits = true;
  burst.contradicted = true;
  const auto report = summarise({burst}, ValidateBy::source);
  EXPECT_EQ(report.all.predicted, 1U);
  EXPECT_EQ(report.all.contradicted, 1U);
  EXPECT_EQ(report.all.fits.fits_not, 0);
}

TEST(Validation, OnlyTimedRowsWithAnIntervalAreInsideOne) {
  ValidationRow below = timed(10, 12), on = timed(10, 12), without = timed(10, 12), burst = on;
  below.interval_low = 10.5, below.interval_high = 14;
  on.interval_low = burst.interval_low = 9, on.interval_high = burst.interval_high = 10;
  burst.outcome = "oom";
  const auto report = summarise({below, on, without, burst}, ValidateBy::source);
  EXPECT_EQ(report.all.with_interval, 2U);
  EXPECT_EQ(report.all.in_interval, 1U);
  // Widths 14/10.5 and 10/9; missed by ln(10.5/10) once.
  EXPECT_NEAR(*report.all.width, (14 / 10.5 + 10 / 9.0) / 2, 1e-12);
  EXPECT_NEAR(*report.all.interval_score,
              (std::log(14 / 10.5) + 10 * std::log(1.05) + std::log(10 / 9.0)) / 2, 1e-12);
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

TEST(Validation, ParallelismNamesWhatSplitsTheModelAndTensorBeyondANodeApart) {
  const CorpusCells alone = {{"cp", "1"}, {"zero_stage", "1"}};
  const auto with = [&](CorpusCells more) {
    more.insert(alone.begin(), alone.end());
    return row_with(more);
  };
  const auto report =
      validate(corpus_table({with({}), with({{"tp", "8"}}), with({{"tp", "16"}, {"n_accel", "32"}}),
                             with({{"tp", "2"}, {"pp", "2"}}), row_with({{"zero_stage", "3"}}),
                             row_with({{"n_accel", ""}})}),
               "x", ValidateBy::parallelism);
  ASSERT_TRUE(report.ok());
  const char* const expected[] = {"data only", "tp", "tp across nodes", "tp + pp", "cp + fsdp", ""};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(report->rows[i].parallelism, expected[i]) << i;
  // Fewer dimensions first.
  ASSERT_EQ(report->groups.size(), 6U);
  EXPECT_EQ(report->groups[0].name, "not predicted");
  EXPECT_EQ(report->groups[1].name, "data only");
  EXPECT_EQ(report->groups[2].name, "tp");
  EXPECT_EQ(report->groups[4].name, "cp + fsdp");
}

TEST(Validation, PredictionsDoNotDependOnTheThreads) {
  std::vector<CorpusCells> cells;
  for (int i = 0; i < 100; ++i)
    cells.push_back(row_with({{"n_accel", std::to_string(8 << i % 5)}}));
  const auto corpus = read_corpus(corpus_table(cells), "x");
  ASSERT_TRUE(corpus.ok());
  const auto one = predict_rows(corpus->rows, 1), many = predict_rows(corpus->rows, 8);
  ASSERT_TRUE(one && many);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ((*one)[i].predicted_step_time, (*many)[i].predicted_step_time) << i;
    EXPECT_EQ((*one)[i].predicted_memory, (*many)[i].predicted_memory) << i;
  }
}

TEST(Validation, RowsCarryTheIntervalOfTheirForecast) {
  const auto corpus = read_corpus(corpus_table({complete_row()}), "x");
  IntervalModel model;  // alike for every run: a factor of 1.5 down, of two up
  model.step_time.below[0] = std::pow(std::log(1.5), 2);
  model.step_time.above[0] = std::pow(std::log(2), 2);
  const auto rows = predict_rows(corpus->rows, 1, {}, &model);
  const double time = *rows->at(0).predicted_step_time;
  EXPECT_NEAR(*rows->at(0).interval_low, time / 1.5, 1e-9 * time);
  EXPECT_NEAR(*rows->at(0).interval_high, 2 * time, 1e-9 * time);
  EXPECT_FALSE(predict_rows(corpus->rows)->at(0).interval_low);
}

TEST(Validation, ProgressIsToldOfRowsAndStopsThePrediction) {
  const auto corpus = read_corpus(corpus_table(std::vector<CorpusCells>(50, complete_row())), "x");
  std::size_t last = 0;
  EXPECT_TRUE(predict_rows(corpus->rows, 1, [&](std::size_t done, std::size_t of) {
    EXPECT_EQ(of, 50U);
    last = done;
    return true;
  }));
  EXPECT_EQ(last, 50U);
  EXPECT_FALSE(predict_rows(corpus->rows, 1, [](std::size_t, std::size_t) { return false; }));
}

TEST(Validation, EveryRowOfTheTrainingCorpusIsPredictedOrHasAReason) {
  std::ifstream file(source_dir() + "/data/measurements/training.csv");
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
  EXPECT_GE(report->all.predicted, 5650U);
  for (const ValidationRow& row : report->rows) {
    if (!row.predicted()) continue;
    EXPECT_GT(row.predicted_step_time.value_or(0), 0) << row.id;
    EXPECT_GT(row.predicted_memory.value_or(0), 0) << row.id;
    EXPECT_EQ(row.error().has_value(), row.outcome == "ok") << row.id;
  }
}

}  // namespace
}  // namespace headway
