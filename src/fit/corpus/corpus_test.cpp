#include "fit/corpus/corpus.hpp"

#include <gtest/gtest.h>

#include "fit/corpus/table_for_test.hpp"

namespace headway {
namespace {

TEST(Corpus, ReadsTextsCountsAndNumbersAndLeavesEmptyCellsAbsent) {
  const auto corpus = read_corpus(
      corpus_table({row_with({{"step_time_s", "1.25"}, {"notes", "a, \"b\""}, {"dp", ""}})}), "x");
  ASSERT_TRUE(corpus.ok());
  ASSERT_EQ(corpus->rows.size(), 1U);
  const CorpusRow& row = corpus->rows[0];
  EXPECT_EQ(row.bad_cell, "");
  EXPECT_EQ(row.line, 2);
  EXPECT_EQ(row.model_name, "LLAMA3-8B");
  EXPECT_EQ(row.notes, "a, \"b\"");
  EXPECT_EQ(row.n_accel, 8);
  EXPECT_EQ(row.step_time_s, 1.25);
  EXPECT_EQ(row.dp, std::nullopt);
  EXPECT_EQ(row.mfu_reported, std::nullopt);
}

TEST(Corpus, ReadsCountsWrittenAsNumbersButNoFractions) {
  const auto corpus = read_corpus(
      corpus_table({row_with({{"tp", "8.0"}}), row_with({{"tp", "8.5"}}), row_with({{"tp", "0"}})}),
      "x");
  ASSERT_TRUE(corpus.ok());
  EXPECT_EQ(corpus->rows[0].tp, 8);
  EXPECT_EQ(corpus->rows[1].bad_cell, "tp");
  EXPECT_EQ(corpus->rows[2].bad_cell, "tp");
}

TEST(Corpus, ABadCellSpoilsItsRowOnlyAndTheFirstOneIsNamed) {
  const auto corpus =
      read_corpus(corpus_table({row_with({{"grad_accum", "32 64"}, {"dp", "x"}}),
                                row_with({{"outcome", "maybe"}}), row_with({{"step_time_s", "-1"}}),
                                row_with({{"mfu_reported", "inf"}}), row_with({})}),
                  "x");
  ASSERT_TRUE(corpus.ok());
  EXPECT_EQ(corpus->rows[0].bad_cell, "grad_accum");
  EXPECT_NE(corpus->rows[0].bad_cell_detail.find("'32 64'"), std::string::npos);
  EXPECT_EQ(corpus->rows[1].bad_cell, "outcome");
  EXPECT_EQ(corpus->rows[2].bad_cell, "step_time_s");
  EXPECT_EQ(corpus->rows[3].bad_cell, "mfu_reported");
  EXPECT_EQ(corpus->rows[4].bad_cell, "");
}

TEST(Corpus, MissingColumnsAreAllNamed) {
  const auto corpus = read_corpus("id,outcome\na,ok\n", "runs.csv");
  ASSERT_FALSE(corpus.ok());
  EXPECT_EQ(corpus.problems().size(), 49U);  // of 51 columns
  EXPECT_NE(where_text(corpus.problems()[0]).find("runs.csv"), std::string::npos);
}

TEST(Corpus, ColumnsMayStandInAnyOrderAmongOthers) {
  std::string table = corpus_table({complete_row()});
  const std::size_t end = table.find('\n');
  table = "extra," + table.substr(0, end + 1) + "7," + table.substr(end + 1);
  const auto corpus = read_corpus(table, "x");
  ASSERT_TRUE(corpus.ok());
  EXPECT_EQ(corpus->rows[0].n_accel, 8);
}

}  // namespace
}  // namespace headway
