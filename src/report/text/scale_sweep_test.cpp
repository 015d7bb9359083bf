#include "report/scale_sweep.hpp"

#include <gtest/gtest.h>

#include "base/document/csv.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

constexpr SweepAxis kAxes[] = {SweepAxis::weak,    SweepAxis::strong,   SweepAxis::model,
                               SweepAxis::context, SweepAxis::hardware, SweepAxis::network,
                               SweepAxis::layout};

using FieldList = std::initializer_list<std::pair<const char*, const char*>>;

RunRequest sweep_request(FieldList fields) {
  RunRequest out = {{"model", "llama-2-7b", "--model"},
                    {"cluster", "dgx-h100", "--cluster"},
                    {"seq", "4096", "--seq"},
                    {"gpus", "64", "--gpus"},
                    {"global-batch", "128", "--global-batch"},
                    {"framework", "fsdp", "--framework"}};
  for (const auto& [name, text] : fields) out.push_back({name, text, "--" + std::string(name)});
  return out;
}

Result<SweepAnswer> ask(SweepAxis axis, FieldList fields) {
  auto question = read_sweep(axis, sweep_request(fields));
  if (!question) return question.problems();
  return make_sweep(std::move(question).value(), {}, 1);
}

TEST(SweepAnswers, WhatIsAssumedAndNotedIsSaid) {
  const auto answer = ask(SweepAxis::context, {{"at", "4096,8192"}});
  ASSERT_TRUE(answer.ok());
  const std::string text = scale_sweep_text(*answer);
  EXPECT_NE(text.find("zero 3: the habit of the framework"), std::string::npos);
  EXPECT_NE(text.find("note: 8,192: sequence of 8192 tokens is longer"), std::string::npos);
  EXPECT_EQ(text.find("note: 4,096"), std::string::npos);
}

TEST(SweepAnswers, TextFitsIntoEightyColumnsOnEveryAxis) {
  for (const SweepAxis axis : kAxes) {
    const auto answer = ask(axis, {});
    ASSERT_TRUE(answer.ok());
    const std::string text = scale_sweep_text(*answer);
    std::size_t begin = 0;
    while (begin < text.size()) {
      const std::size_t end = text.find('\n', begin);
      EXPECT_LE(end - begin, 80U) << text.substr(begin, end - begin);
      begin = end + 1;
    }
  }
}

// A page of tables is read in an editor, too.
TEST(SweepAnswers, TablesOfThePageFitIntoEightyColumnsOnEveryAxis) {
  for (const SweepAxis axis : kAxes) {
    const auto answer = ask(axis, {});
    ASSERT_TRUE(answer.ok());
    const std::string text =
        scale_sweep_blocks({{"headway", *answer}}).at(std::string(to_name(axis)));
    std::size_t rows = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      const std::string line = text.substr(begin, end - begin);
      begin = end + 1;
      if (!line.starts_with('|')) continue;
      ++rows;
      EXPECT_LE(line.size(), 80U) << line;
    }
    EXPECT_GT(rows, 4U);
  }
}

TEST(SweepAnswers, SaysWhichModelsGatherTheirWeightsAgain) {
  const auto answer = ask(SweepAxis::model, {{"no-reshard", "true"},
                                             {"gpus", "256"},
                                             {"global-batch", "512"},
                                             {"at", "llama-2-7b,llama-2-70b"}});
  ASSERT_TRUE(answer.ok());
  EXPECT_NE(scale_sweep_text(*answer).find("otherwise: llama-2-70b\n"), std::string::npos);
}

TEST(SweepAnswers, EachPointIsARowOfTheCsv) {
  for (const SweepAxis axis : kAxes) {
    const auto answer = ask(axis, {});
    ASSERT_TRUE(answer.ok());
    const auto csv = parse_csv(scale_sweep_csv(*answer), "sweep.csv");
    ASSERT_TRUE(csv.ok());
    std::size_t points = 0;
    for (const SweepSeries& series : answer->series) points += series.points.size();
    EXPECT_EQ(csv->rows.size(), points);
    EXPECT_GT(points, 1U);
  }
}

TEST(SweepAnswers, LayoutWordsNameWhatIsNotOne) {
  Layout layout;
  EXPECT_EQ(short_layout_words(layout), "mb 1");
  layout.tp = 8;
  layout.pp = 4;
  layout.micro_batch = 2;
  layout.recompute = Recompute::full;
  EXPECT_EQ(short_layout_words(layout), "tp 8 pp 4 mb 2 full");
}

}  // namespace
}  // namespace headway
