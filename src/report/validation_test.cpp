#include "report/validation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/document/csv.hpp"
#include "fit/corpus/table_for_test.hpp"

namespace headway {
namespace {

// A predicted row.
ValidationRow timed(double measured, double predicted) {
  ValidationRow row;
  row.source_key = "a";
  row.outcome = "ok";
  row.measured_step_time = measured;
  row.predicted_step_time = predicted;
  return row;
}

TEST(Validation, HostileNamesReachATableHarmless) {
  ValidationRow row = timed(1, 1);
  row.source_key = std::string("a\x1b[31m\n\0", 8) + std::string(5000, 'x');
  const std::string text = to_text(summarise({row}, ValidateBy::source));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\0'), std::string::npos);
  EXPECT_NE(text.find("a\\x1b[31m\\n"), std::string::npos);
  EXPECT_LT(text.size(), 2000U);
}

TEST(Validation, RowsAreWrittenWithTheStatedColumns) {
  const auto report =
      validate(corpus_table({row_with({{"recompute", ""}, {"source", "a page, line 3"}}),
                             row_with({{"n_accel", ""}, {"source", "a page, line 3"}})}),
               "x", ValidateBy::source);
  const std::string csv = to_csv(report->rows);
  const auto table = parse_csv(csv, "rows.csv");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->header,
            (std::vector<std::string>{
                "id", "source_key", "outcome", "n_accel", "measured_step_time_s",
                "predicted_step_time_s", "error", "measured_memory_gb", "predicted_memory_gb",
                "predicted_fits", "interval_low_s", "interval_high_s", "assumed", "skipped_reason",
                "accelerator", "framework", "model", "parallelism", "source"}));
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->rows[0].cells[4], "10");
  EXPECT_NE(table->rows[0].cells[5], "");
  EXPECT_EQ(table->rows[0].cells[12].rfind("recompute=", 0), 0U);
  EXPECT_EQ(table->rows[1].cells[5], "");
  EXPECT_EQ(table->rows[1].cells[13], "cell missing: n_accel");
  // What tells a row apart stands there whether it was predicted or not.
  const auto column = [&](std::string_view name) {
    const auto& header = table->header;
    return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  for (const CsvRow& row : table->rows) {
    EXPECT_EQ(row.cells[column("accelerator")], "H100");
    EXPECT_EQ(row.cells[column("model")], "LLAMA3-8B");
    EXPECT_EQ(row.cells[column("source")], "a page, line 3");
  }
  // An interval is written where a row has one.
  ValidationRow row = timed(10, 11);
  row.interval_low = 9.5;
  row.interval_high = 12;
  EXPECT_NE(to_csv(std::vector{row}).find(",9.5,12,"), std::string::npos);
}

}  // namespace
}  // namespace headway
