#include "base/document/csv.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace headway {
namespace {

Csv parsed(std::string_view text) {
  const auto csv = parse_csv(text, "t.csv");
  EXPECT_TRUE(csv.ok()) << (csv.ok() ? "" : csv.problems()[0].message);
  return csv.ok() ? *csv : Csv();
}

Problems problems_of(std::string_view text) {
  const auto csv = parse_csv(text, "t.csv");
  EXPECT_FALSE(csv.ok());
  return csv.ok() ? Problems() : csv.problems();
}

TEST(Csv, ReadsCellsByTheNameOfTheirColumn) {
  const Csv csv = parsed("a,b\n1,2\n3,\n");
  ASSERT_EQ(csv.rows.size(), 2u);
  EXPECT_EQ(csv.rows[0].cells[*csv.column("b")], "2");
  EXPECT_EQ(csv.rows[1].cells[*csv.column("b")], "");
  EXPECT_FALSE(csv.column("c"));
}

TEST(Csv, QuotesHoldCommasLineBreaksAndDoubledQuotes) {
  const Csv csv = parsed("a,b\n\"1,5\",\"say \"\"x\"\"\ntwice\"\n7,8\n");
  ASSERT_EQ(csv.rows.size(), 2u);
  EXPECT_EQ(csv.rows[0].cells[0], "1,5");
  EXPECT_EQ(csv.rows[0].cells[1], "say \"x\"\ntwice");
  EXPECT_EQ(csv.rows[1].line, 4) << "the quoted line break counts as a line of the file";
}

TEST(Csv, LineEndsMayBeCrLfAndTheLastMayBeMissing) {
  const Csv csv = parsed(
      "\xEF\xBB\xBF"
      "a,b\r\n1,2\r\n\r\n\"3\",4");
  ASSERT_EQ(csv.rows.size(), 2u);
  EXPECT_EQ(csv.header[0], "a");
  EXPECT_EQ(csv.rows[0].cells[1], "2");
  EXPECT_EQ(csv.rows[1].cells[0], "3");
  EXPECT_EQ(csv.rows[1].line, 4);
}

TEST(Csv, EveryRaggedRowIsAProblemWithItsLine) {
  const Problems problems = problems_of("a,b\n1\n1,2\n1,2,3\n");
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(where_text(problems[0]), "t.csv:2");
  EXPECT_EQ(problems[0].message, "has 1 cells where the header has 2");
  EXPECT_EQ(where_text(problems[1]), "t.csv:4");
}

TEST(Csv, BrokenQuotesAreProblems) {
  EXPECT_EQ(where_text(problems_of("a\n1\n\"open\n\n")[0]), "t.csv:3");
  EXPECT_EQ(where_text(problems_of("a,b\n\"x\"y,2\n")[0]), "t.csv:2");
  EXPECT_EQ(where_text(problems_of("a,b\nx\"y,2\n")[0]), "t.csv:2");
}

TEST(Csv, TheHeaderMustNameEachColumnOnce) {
  EXPECT_EQ(problems_of("a,,a\n1,2,3\n").size(), 2u);
  EXPECT_EQ(problems_of("").size(), 1u);
  EXPECT_EQ(problems_of("\n\n").size(), 1u);
}

TEST(Csv, ManyProblemsAreCutShort) {
  std::string text = "a,b\n";
  for (int i = 0; i < 100; ++i) text += "1\n";
  const Problems problems = problems_of(text);
  ASSERT_EQ(problems.size(), 21u);
  EXPECT_EQ(problems.back().message, "and 80 more problems");
}

TEST(Csv, MissingColumnsAreNamedWithTheNearest) {
  const Problems problems = missing_columns(parsed("time_us,n\n1,2\n"), {"time_ms", "n"});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].message.find("'time_ms'; did you mean 'time_us'?"), std::string::npos)
      << problems[0].message;
}

TEST(Csv, AHundredThousandColumnsAreReadAndNotSearchedForSlips) {
  std::string text = "\n\nc0";
  for (int i = 1; i < 100'000; ++i) text += ",c" + std::to_string(i);
  const auto csv = parse_csv(text + "\n", "wide.csv");
  ASSERT_TRUE(csv.ok());
  const Problems problems = missing_columns(*csv, {"c7", "c100000"});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0], (Problem{{"wide.csv", 3}, "has no column 'c100000'", Trouble::missing}));
}

TEST(Csv, ACellMayHoldAnyBytesAndBeHuge) {
  const std::string huge(3'000'000, 'x');
  const std::string text =
      "\xEF\xBB\xBF"
      "a,b\r\n" +
      huge + ",\"\r\n" + std::string("\0\xff", 2) + "\"\r\n";
  const auto csv = parse_csv(text, "t.csv");
  ASSERT_TRUE(csv.ok());
  EXPECT_EQ(csv->header[0], "a");
  EXPECT_EQ(csv->rows[0].cells[0], huge);
  EXPECT_EQ(csv->rows[0].cells[1], std::string("\r\n\0\xff", 4));
}

RC_GTEST_PROP(Csv, WhatIsWrittenIsReadBack, ()) {
  const auto cells = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(
      rc::gen::container<std::string>(rc::gen::element('a', ',', '"', '\n', '\r', ' '))));
  std::string header, row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    header += (i ? "," : "") + std::to_string(i);
    row += (i ? "," : "") + csv_cell(cells[i]);
  }
  RC_PRE(cells.size() > 1 || !cells[0].empty());  // an empty line is no row
  const auto csv = parse_csv(header + "\n" + row + "\n", "t.csv");
  RC_ASSERT(csv.ok());
  RC_ASSERT(csv->rows.size() == 1u);
  RC_ASSERT(csv->rows[0].cells == cells);
}

TEST(Csv, ANumberKeepsTwelveDigits) {
  EXPECT_EQ(csv_number(0.1 + 0.2), "0.3");
  EXPECT_EQ(csv_number(2.0 / 3), "0.666666666667");
  EXPECT_EQ(csv_number(-3e20), "-3e+20");
}

RC_GTEST_PROP(Csv, NoTextMakesItFailOtherThanByProblems, ()) {
  const auto text =
      *rc::gen::container<std::string>(rc::gen::element('a', ',', '"', '\n', '\r', '\xEF'));
  const auto csv = parse_csv(text, "t.csv");
  if (!csv.ok()) return RC_ASSERT(!csv.problems().empty());
  for (const CsvRow& row : csv->rows) RC_ASSERT(row.cells.size() == csv->header.size());
}

}  // namespace
}  // namespace headway
