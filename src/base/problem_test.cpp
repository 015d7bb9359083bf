#include "base/problem.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(Problem, OfAnArgumentStandsAtItsFlag) {
  EXPECT_EQ(where_text(FieldName("tp")), "--tp");
  EXPECT_EQ(where_text(FieldName("fix", "tp=3")), "--fix tp=3");
  EXPECT_EQ(where_text(FieldNames{FieldName("dp"), FieldName("tp")}), "--dp, --tp");
}

TEST(Problem, OfARequestStandsAtItsMember) {
  EXPECT_EQ(where_text(member("tp")), "tp");
  EXPECT_EQ(where_text(member("cluster.levels")), "cluster.levels");
}

TEST(Problem, OfAFileStandsAtItsLineAndField) {
  EXPECT_EQ(where_text(Where("run.toml", 4, FieldName("tp"))), "run.toml:4: tp");
  EXPECT_EQ(where_text(Where("run.toml", 4)), "run.toml:4");
  EXPECT_EQ(where_text(Where("run.toml", 0, FieldName("tp"))), "run.toml: tp");
  EXPECT_EQ(where_text("run.toml"), "run.toml");
}

TEST(Problem, WithoutAPlaceHasNoText) {
  EXPECT_EQ(where_text(Where()), "");
}

// Two problems are the same only if all of it is: kind, fields, place and message.
TEST(Problem, IsAnotherWhereAnyPartOfItDiffers) {
  const Problem problem{{"run.toml", 4, FieldName("tp")}, "is 0", Trouble::illegal};
  EXPECT_EQ(problem, (Problem{{"run.toml", 4, FieldName("tp")}, "is 0"}));
  EXPECT_NE(problem, (Problem{{"run.toml", 4, FieldName("tp")}, "is 0", Trouble::malformed}));
  EXPECT_NE(problem, (Problem{{"run.toml", 4, FieldName("pp")}, "is 0"}));
  EXPECT_NE(problem, (Problem{{"run.toml", 5, FieldName("tp")}, "is 0"}));
  EXPECT_NE(problem, (Problem{FieldName("tp"), "is 0"}));
  EXPECT_NE(problem, (Problem{{"run.toml", 4, FieldName("tp")}, "is 1"}));
}

}  // namespace
}  // namespace headway
