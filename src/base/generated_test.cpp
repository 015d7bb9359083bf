#include "base/generated.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(Generated, BlocksAreReplacedAndAllElseStays) {
  const std::string document =
      "# A\r\ntext\n<!-- generated: one -->\nold\nolder\n<!-- end -->\nbetween <!-- end -->\n"
      "<!-- generated: two -->\n<!-- end -->\nlast line without an end";
  const auto out = with_generated(document, "a.md", {{"one", "new\n"}, {"two", "2\n"}});
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(*out,
            "# A\r\ntext\n<!-- generated: one -->\nnew\n<!-- end -->\nbetween <!-- end -->\n"
            "<!-- generated: two -->\n2\n<!-- end -->\nlast line without an end");
  EXPECT_EQ(*with_generated(*out, "a.md", {{"one", "new\n"}, {"two", "2\n"}}), *out);
}

TEST(Generated, EveryMistakeIsNamedWithItsLine) {
  const auto out = with_generated(
      "<!-- end -->\n<!-- generated: one -->\n<!-- generated: one -->\n<!-- end -->\n"
      "<!-- generated: tow -->\n",
      "a.md", {{"one", "1\n"}, {"two", "2\n"}});
  ASSERT_FALSE(out.ok());
  const Problems& problems = out.problems();
  ASSERT_EQ(problems.size(), 6U);
  EXPECT_EQ(problems[0], (Problem{{"a.md", 1}, "closes a block that was not opened"}));
  EXPECT_EQ(problems[1], (Problem{{"a.md", 2}, "opens a block that is not closed before line 3"}));
  EXPECT_EQ(problems[2], (Problem{{"a.md", 3}, "names the block 'one' twice"}));
  EXPECT_EQ(
      problems[3],
      (Problem{{"a.md", 5}, "names the block 'tow', which nobody writes; did you mean 'two'?"}));
  EXPECT_EQ(problems[4], (Problem{{"a.md", 5}, "opens a block that is never closed"}));
  EXPECT_EQ(where_text(problems[5]), "a.md");
  EXPECT_NE(problems[5].message.find("has no block 'two'"), std::string::npos);
}

}  // namespace
}  // namespace headway
