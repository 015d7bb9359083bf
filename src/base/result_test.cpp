#include "base/result.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace headway {
namespace {

TEST(Result, HoldsAValue) {
  const Result<int> result = 7;
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(*result, 7);
}

TEST(Result, HoldsEveryProblem) {
  const Problems both = {{"a.toml:1", "is missing"}, {"--tp", "must divide 64"}};
  const Result<int> result = both;
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.problems(), both);
}

TEST(Result, ASingleProblemIsAListOfOne) {
  const Result<std::string> result = Problem{FieldName("gpus"), "is missing"};
  ASSERT_FALSE(result);
  ASSERT_EQ(result.problems().size(), 1u);
  EXPECT_EQ(where_text(result.problems()[0]), "--gpus");
}

TEST(Result, GivesUpAValueThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  EXPECT_EQ(*std::move(result).value(), 3);
}

TEST(Result, AppendKeepsTheOrder) {
  Problems all = {{"1", "a"}};
  append(all, {{"2", "b"}, {"3", "c"}});
  EXPECT_EQ(all, (Problems{{"1", "a"}, {"2", "b"}, {"3", "c"}}));
}

}  // namespace
}  // namespace headway
