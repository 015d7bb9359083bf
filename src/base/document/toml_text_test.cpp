#include "base/document/toml_text.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/document/document.hpp"

namespace headway {
namespace {

// Values change, come and go; comments, other keys and other tables stay as they stand.
TEST(TomlText, OfATableIsRenewedKeyByKey) {
  const std::string before = "# said\n[a]\nx = 1\ny = 2  # of b, too\n\n# of b\n[b]\nx = 3\n";
  EXPECT_EQ(renewed_table(before, "a", {{"x", "7"}, {"y", ""}, {"z", "\"new\""}}),
            "# said\n[a]\nx = 7\nz = \"new\"\n\n# of b\n[b]\nx = 3\n");
  EXPECT_EQ(renewed_table(before, "b", {{"x", "4"}, {"w", "5"}}),
            "# said\n[a]\nx = 1\ny = 2  # of b, too\n\n# of b\n[b]\nx = 4\nw = 5\n");
  EXPECT_EQ(renewed_table(before, "c", {{"x", "4"}}), before);
  EXPECT_EQ(renewed_table("[\"c-0.6\"]\nx = 1\n", "c-0.6", {{"x", "4"}}), "[\"c-0.6\"]\nx = 4\n");
}

TEST(TomlText, IsReadBackAsItWas) {
  std::string every;
  for (int c = 1; c < 128; ++c) every += static_cast<char>(c);
  for (const std::string& text : {std::string(), std::string("a \"b\" \\ c\n"), every}) {
    const auto read = parse_toml("x = " + toml_text(text), "x.toml");
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(std::get<std::string>(read->root.find("x")->value), text);
  }
}

TEST(TomlText, ListsAreReadBackAsTheyWere) {
  EXPECT_EQ(toml_list(std::vector<std::string>()), "[]");
  EXPECT_EQ(toml_list(std::vector<std::string>{"a", "b, \"c\""}), "[\"a\", \"b, \\\"c\\\"\"]");
}

}  // namespace
}  // namespace headway
