#include "base/document/toml_text.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/document/document.hpp"

namespace headway {
namespace {

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
