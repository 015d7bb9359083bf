#include "base/document/yaml.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

std::string first_problem(const std::string& text) {
  const auto document = parse_yaml(text, "c.yaml");
  if (document) return "(none)";
  return where_text(document.problems()[0]) + ": " + document.problems()[0].message;
}

TEST(Yaml, ScalarsHaveTheTypesOfTheCoreSchemaAndTheirLines) {
  const auto document = parse_yaml(
      "a: 3\nb: 1.5e-4\nc: true\nd: null\ne: '3'\nf: 1f1b\ng:\n- x\n- {h: 2}\ni: ~\nj: -7\n",
      "c.yaml");
  ASSERT_TRUE(document.ok());
  const Node& root = document->root;
  EXPECT_EQ(std::get<std::int64_t>(root.find("a")->value), 3);
  EXPECT_EQ(std::get<double>(root.find("b")->value), 1.5e-4);
  EXPECT_EQ(std::get<bool>(root.find("c")->value), true);
  EXPECT_TRUE(root.find("d")->is_null() && root.find("i")->is_null());
  EXPECT_EQ(std::get<std::string>(root.find("e")->value), "3");
  EXPECT_EQ(std::get<std::string>(root.find("f")->value), "1f1b");
  EXPECT_EQ(std::get<std::int64_t>(root.find("j")->value), -7);
  EXPECT_EQ(root.find("f")->line, 6);
  ASSERT_NE(root.find("g")->array(), nullptr);
  EXPECT_EQ(root.find("g")->array()->at(1).find("h")->line, 9);
}

TEST(Yaml, HostileInputIsRefusedWithItsLine) {
  EXPECT_EQ(first_problem("a: 1\nb: *x\n").substr(0, 8), "c.yaml:2");
  EXPECT_EQ(first_problem("a: &x [1]\nb: *x\n"), "c.yaml:2: is an alias; write the value out");
  EXPECT_EQ(first_problem("a: 1\na: 2\n"), "c.yaml:2: 'a' stands twice");
  EXPECT_EQ(first_problem("? [1]\n: 2\n"), "c.yaml:1: has a key that is no text");
  EXPECT_EQ(first_problem("- 1\n"), "c.yaml:1: must be a table");
  EXPECT_EQ(first_problem(""), "c.yaml:1: is empty; must be a table");
  EXPECT_FALSE(parse_yaml(std::string_view(), "c.yaml").ok());
  EXPECT_EQ(first_problem("a: [1\nb: 2\n").substr(0, 30), "c.yaml:2: is not valid YAML: d");
  EXPECT_NE(first_problem("a: " + std::string(100, '[')).find("nested deeper"), std::string::npos);
  EXPECT_EQ(first_problem(std::string(2'000'000, ' ')), "c.yaml: is larger than 1 MiB");
  EXPECT_NE(first_problem("a: \x01\n").find("c.yaml:1"), std::string::npos);
}

TEST(Yaml, TheLastOfAKeyCountsWhereAnyoneIsTold) {
  std::vector<std::string> twice;
  const auto document = parse_yaml("a: 1\nb:\n  c: 2\n  c: 3\na: 4\n", "c.yaml", twice);
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(std::get<std::int64_t>(document->root.find("a")->value), 4);
  EXPECT_EQ(document->root.table()->size(), 2U);
  EXPECT_EQ(std::get<std::int64_t>(document->root.find("b")->find("c")->value), 3);
  EXPECT_EQ(twice, (std::vector<std::string>{
                       "c.yaml:4: 'c' stands twice: this one counts, not that of line 3",
                       "c.yaml:5: 'a' stands twice: this one counts, not that of line 1"}));
}

}  // namespace
}  // namespace headway
