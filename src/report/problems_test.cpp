#include "report/problems.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace headway {
namespace {

Problems of_file(const std::string& file, int count) {
  Problems out;
  for (int i = 1; i <= count; ++i) {
    out.push_back({Where(file, i, FieldName("word")), "is not a known member"});
  }
  return out;
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// A vocabulary given for a model has a problem in each of its 50,257 members.
TEST(Problems, OfAFileTenAreToldAndTheOthersCounted) {
  const std::string text = problems_text(of_file("vocab.json", 50'257));
  EXPECT_EQ(lines(text), 11U);
  EXPECT_TRUE(text.ends_with("headway: vocab.json: and 50247 more problems\n")) << text;
  EXPECT_LT(problems_json(of_file("vocab.json", 50'257)).size(), 2000U);
  EXPECT_EQ(lines(problems_text(of_file("a.json", 11))), 11U);
  EXPECT_EQ(problems_text(of_file("a.json", 11)).find("more problems"), std::string::npos);
}

TEST(Problems, LegalNumbersNextToAWrongOneStandInTheDocument) {
  const std::string text =
      problems_json({{FieldName("tp"), "is wrong"},
                     {FieldName("gpus"), "is no multiple", Trouble::illegal, {1'024, 1'088}}});
  const auto problems = nlohmann::json::parse(text)["problems"];
  EXPECT_FALSE(problems[0].contains("near"));
  EXPECT_EQ(problems[1]["near"], nlohmann::json({1'024, 1'088}));
  // Those that are only counted name none.
  Problems many = of_file("a.json", 12);
  for (Problem& problem : many) problem.near = {1'024};
  const auto told = nlohmann::json::parse(problems_json(many))["problems"];
  ASSERT_EQ(told.size(), 11U);
  EXPECT_TRUE(told[9].contains("near"));
  EXPECT_FALSE(told[10].contains("near"));
}

TEST(Problems, EveryFileIsCountedAloneAndFlagsAreAllTold) {
  Problems both = of_file("a.json", 12), other = of_file("b.json", 3);
  both.insert(both.end(), other.begin(), other.end());
  for (int i = 0; i < 15; ++i) both.push_back({FieldName("tp"), "is wrong"});
  EXPECT_EQ(lines(problems_text(both)), 11U + 3U + 15U);
  EXPECT_NE(problems_text(both).find("headway: a.json: and 2 more problems\n"), std::string::npos);
}

}  // namespace
}  // namespace headway
