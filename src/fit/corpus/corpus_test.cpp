#include "fit/corpus/corpus.hpp"

#include <gtest/gtest.h>

#include <array>

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
  EXPECT_EQ(corpus->unread, std::vector<std::string>{"extra"});
  EXPECT_EQ(unread_columns(*corpus).message, "nothing reads these columns: extra");
}

// The complete row with more columns: a header and cells, each with a comma before it.
Corpus with_more(const std::string& header, const std::string& cells) {
  std::string table = corpus_table({complete_row()});
  table.insert(table.size() - 1, cells);
  table.insert(table.find('\n'), header);
  return read_corpus(table, "x").value();
}

TEST(Corpus, AColumnNamedAsAFieldOfARunStatesIt) {
  const Corpus corpus = with_more(",overlap_gradients,schedule,etp,fused,dropout,order,seq",
                                  ",1,gpipe,2,off,,pp-tp-cp-dp,7");
  EXPECT_EQ(corpus.unread, std::vector<std::string>{"seq"});  // seq_len says it
  const CorpusRow& row = corpus.rows.at(0);
  EXPECT_EQ(row.bad_cell, "");
  EXPECT_TRUE(row.states("overlap_gradients") && row.states("schedule") && row.states("etp"));
  EXPECT_TRUE(row.states("fused") && row.states("order"));
  EXPECT_FALSE(row.states("dropout"));
}

TEST(Corpus, WhatAFieldCannotBeIsABadCellThatSaysWhatItCan) {
  const std::array<std::array<const char*, 3>, 7> wrong = {{
      {"overlap_gradients", "maybe", "'maybe' is not 1 or 0, on or off"},
      {"fused", "2", "'2' is not 1 or 0, on or off"},
      {"schedule", "gpipe9", "'gpipe9' is not one of 1f1b"},
      {"etp", "0", "'0' is not a whole number from 1 to"},
      {"dropout", "nan", "'nan' is not a number from 0 to 0.999"},
      {"bucket_size", "25", "'25' is not a size, as 25MiB"},
      {"order", "tp-tp", "'tp-tp' is not legal: it must name tp, cp, dp and pp once each"},
  }};
  for (const auto& [column, cell, why] : wrong) {
    const Corpus corpus = with_more("," + std::string(column), "," + std::string(cell));
    EXPECT_EQ(corpus.rows.at(0).bad_cell, column);
    EXPECT_EQ(corpus.rows.at(0).bad_cell_detail.find(why), 0U) << corpus.rows.at(0).bad_cell_detail;
  }
}

}  // namespace
}  // namespace headway
