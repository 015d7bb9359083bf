#include "base/draw/table.hpp"

#include <gtest/gtest.h>

#include "base/columns.hpp"

namespace headway {
namespace {

TEST(Aligned, FirstColumnStandsLeftAndTheOthersRight) {
  EXPECT_EQ(aligned({{"a", "1", "22"}, {"long", "333", "4"}}),
            "a       1  22\n"
            "long  333   4\n");
}

TEST(Aligned, AsManyColumnsStandLeftAsAskedFor) {
  EXPECT_EQ(aligned({{"a", "x", "1"}, {"bb", "yyy", "22"}}, 2),
            "a   x     1\n"
            "bb  yyy  22\n");
}

TEST(Aligned, ACodePointOfSeveralBytesTakesOneColumn) {
  EXPECT_EQ(aligned({{"µs", "1"}, {"abc", "2"}}), "µs   1\nabc  2\n");
}

TEST(Aligned, RowsMayBeShorterAndLeaveNoSpacesAtTheirEnd) {
  EXPECT_EQ(aligned({{"a"}, {"b", "12"}, {"c", ""}}), "a\nb  12\nc\n");
  EXPECT_EQ(aligned({}), "");
}

TEST(Aligned, WhatIsWiderThanTheTerminalGoesOnBelowWithItsFirstColumn) {
  const std::vector<std::vector<std::string>> rows = {{"name", "first", "second"}, {"a", "1", "2"}};
  const TextColumns narrow(12);
  EXPECT_EQ(aligned(rows),
            "name  first\n"
            "a         1\n"
            "\n"
            "name  second\n"
            "a          2\n");
  EXPECT_EQ(wrapped("one two three", 0, 2), "one two\n  three\n");
  {
    const TextColumns wide(200);
    EXPECT_EQ(aligned(rows), "name  first  second\na         1       2\n");
  }
  EXPECT_EQ(text_columns(), 12U);
  // A column that does not fit alone stands alone all the same.
  const TextColumns tiny(4);
  EXPECT_EQ(aligned({{"a", "wide one"}}), "a  wide one\n");
}

TEST(Aligned, TextThatIsWiderThanTheTerminalIsBrokenAtWordsBelowItself) {
  const std::vector<std::vector<std::string>> rows = {
      {"a-name", "three words here"}, {"b", "one"}, {"c"}};
  const TextColumns narrow(20);
  EXPECT_EQ(aligned(rows, 2), "a-name  three words\n        here\nb       one\nc\n");
  const TextColumns wide(24);
  EXPECT_EQ(aligned(rows, 2), "a-name  three words here\nb       one\nc\n");
}

TEST(Aligned, WithoutATerminalTablesStayWholeAndLinesAreBrokenAt80) {
  const std::string word(50, 'a');
  EXPECT_EQ(aligned({{word, word}}), word + "  " + word + "\n");
  EXPECT_EQ(wrapped(word + " " + word, 0, 2), word + "\n  " + word + "\n");
}

TEST(MarkdownTable, TheFirstRowIsTheHeadAndCellsBringNoMarkup) {
  EXPECT_EQ(markdown_table({{"name", "bytes"}, {"a|b", "*1*"}, {"<i>", "2"}}),
            "| name | bytes |\n|---|---:|\n| a\\|b | \\*1\\* |\n| &lt;i> | 2 |\n");
}

}  // namespace
}  // namespace headway
