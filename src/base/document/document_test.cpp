#include "base/document/document.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdio>

#include "base/document/toml_for_test.hpp"

namespace headway {
namespace {

Node root_of(const Result<Document>& document) {
  if (document.ok()) return document->root;
  ADD_FAILURE() << where_text(document.problems()[0]) << " " << document.problems()[0].message;
  return Node{Node::Table{}, 0};
}
Node json(std::string_view text) {
  return root_of(parse_json(text, "f.json"));
}
// ---- JSON ----

TEST(ParseJson, KeepsValuesTypesAndOrder) {
  const Node root =
      json(R"({"z": 1, "a": [true, null, "x", -2.5], "m": {"n": 18446744073709551615}})");
  const Node::Table& members = *root.table();
  ASSERT_EQ(members.size(), 3u);
  EXPECT_EQ(members[0].first, "z");
  EXPECT_EQ(members[1].first, "a");
  EXPECT_EQ(std::get<std::int64_t>(members[0].second.value), 1);
  const Node::Array& list = *members[1].second.array();
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(std::get<bool>(list[0].value), true);
  EXPECT_TRUE(list[1].is_null());
  EXPECT_EQ(std::get<std::string>(list[2].value), "x");
  EXPECT_EQ(std::get<double>(list[3].value), -2.5);
  // 2^64 - 1 does not fit a signed number and becomes a real one.
  EXPECT_EQ(std::get<double>(root.find("m")->find("n")->value), 18446744073709551616.0);
}

TEST(ParseJson, KnowsTheLineOfEachMember) {
  const std::string text =
      "{\n"                    // 1
      "  \"one\": 1,\n"        // 2
      "  \"nested\": {\n"      // 3
      "    \"deep\": {\n"      // 4
      "      \"last\": 12\n"   // 5: a number at the end of a line
      "    },\n"               // 6
      "    \"text\": \"a\"\n"  // 7
      "  },\n"                 // 8
      "  \"list\": [\n"        // 9
      "    10,\n"              // 10
      "    {\"x\": 1.5\n"      // 11
      "    }\n"                // 12
      "  ],\n"                 // 13
      "  \"apart\":\n"         // 14
      "    5\n"                // 15
      "}\n";
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  for (const std::string& form : {text, crlf}) {
    const Node root = json(form);
    EXPECT_EQ(root.line, 1);
    EXPECT_EQ(line_of(root, {"one"}), 2);
    EXPECT_EQ(line_of(root, {"nested"}), 3);
    EXPECT_EQ(line_of(root, {"nested", "deep"}), 4);
    EXPECT_EQ(line_of(root, {"nested", "deep", "last"}), 5);
    EXPECT_EQ(line_of(root, {"nested", "text"}), 7);
    EXPECT_EQ(line_of(root, {"list"}), 9);
    EXPECT_EQ((*root.find("list")->array())[0].line, 10);
    EXPECT_EQ((*root.find("list")->array())[1].line, 11);
    EXPECT_EQ((*root.find("list")->array())[1].find("x")->line, 11);
    EXPECT_EQ(line_of(root, {"apart"}), 14);  // the key's line
  }
}

TEST(ParseJson, ReportsTheLineOfAnError) {
  EXPECT_EQ(said(parse_json("{\n\"a\": 1,\n\"b\": oops\n}", "f.json"))
                .rfind("f.json:3 is not valid JSON", 0),
            0u);
  EXPECT_EQ(said(parse_json("{\n\"a\": 1,\n\"b\": \"cut", "f.json")).rfind("f.json:3 ", 0), 0u);
}

TEST(ParseJson, WhatIsNoJsonIsAProblem) {
  for (const char* text :
       {"", " ", "{", "{\"a\"}", "{\"a\": }", "{\"a\": 1,}", "[1", "{\"a\": 1} x", "{\"a\": NaN}",
        "{\"a\": Infinity}", "{\"a\": 1e400}", "{\"a\": 01}", "{\"a\": \"\xff\"}",
        "{\"a\": \"\x01\"}", "// comment\n{}"}) {
    EXPECT_FALSE(parse_json(text, "f.json").ok()) << text;
  }
  EXPECT_FALSE(parse_json(std::string_view("{}\0", 3), "f.json").ok());
}

TEST(ParseJson, TheRootMustBeAnObject) {
  for (const char* text : {"[]", "1", "\"a\"", "null"}) {
    EXPECT_EQ(said(parse_json(text, "f.json")), "f.json:1 must be a JSON object") << text;
  }
}

TEST(ParseJson, AKeyThatStandsTwiceIsAProblemThatNamesBothLines) {
  EXPECT_EQ(said(parse_json("{\"a\": {\n\"tp\": 1,\n\"pp\": 2,\n\"tp\": 8}}", "f.json")),
            "f.json:4 has the key 'tp' a second time; it stands on line 2");
  EXPECT_TRUE(parse_json("{\"a\": {\"a\": 1}, \"b\": {\"a\": 1}}", "f.json").ok());
}

TEST(ParseJson, SixtyFourLevelsAreReadAndOneMoreIsAProblem) {
  // The root is the first level.
  const auto nested = [](int levels) {
    return "{\"a\":" + repeated("[", levels - 1) + repeated("]", levels - 1) + "}";
  };
  EXPECT_TRUE(parse_json(nested(64), "f.json").ok());
  EXPECT_EQ(said(parse_json(nested(65), "f.json")), "f.json:1 is nested deeper than 64 levels");
  EXPECT_FALSE(parse_json(repeated("{\"a\":", 1'000'000), "f.json").ok());
  EXPECT_FALSE(parse_json(repeated("[", 1'000'000), "f.json").ok());
}

TEST(ParseJson, InputOfMoreThan16MebibytesIsAProblem) {
  const std::string full = "{}" + std::string(kLargestDocument - 2, ' ');
  EXPECT_TRUE(parse_json(full, "f.json").ok());
  EXPECT_EQ(said(parse_json(full + " ", "f.json")), "f.json is larger than 16 MiB");
}

// ---- overlay ----

TEST(Overlay, PutsMembersInTableByTableAndReplacesTheRest) {
  Node base = toml("a = 1\nlist = [1, 2]\n[sub]\nx = 1\ny = 2\n[sub.deep]\nz = 3\n");
  overlay(base, toml("a = 10\nlist = [9]\nnew = 'n'\n[sub]\ny = 20\n[sub.deep]\nw = 4\n"));
  EXPECT_EQ(std::get<std::int64_t>(base.find("a")->value), 10);
  EXPECT_EQ(base.find("list")->array()->size(), 1u);
  EXPECT_EQ(std::get<std::string>(base.find("new")->value), "n");
  EXPECT_EQ(std::get<std::int64_t>(base.find("sub")->find("x")->value), 1);
  EXPECT_EQ(std::get<std::int64_t>(base.find("sub")->find("y")->value), 20);
  EXPECT_EQ(std::get<std::int64_t>(base.find("sub")->find("deep")->find("z")->value), 3);
  EXPECT_EQ(std::get<std::int64_t>(base.find("sub")->find("deep")->find("w")->value), 4);
  EXPECT_EQ(base.table()->size(), 4u);
}

TEST(Overlay, ATableReplacesAValueAndTheReverse) {
  Node base = toml("a = 1\n[b]\nx = 1\n");
  overlay(base, toml("b = 2\n[a]\ny = 1\n"));
  EXPECT_NE(base.find("a")->table(), nullptr);
  EXPECT_EQ(std::get<std::int64_t>(base.find("b")->value), 2);
}

TEST(Overlay, AnEmptyOneChangesNothingAndALaterOneWins) {
  Node base = toml("a = 1\n");
  overlay(base, toml(""));
  EXPECT_EQ(std::get<std::int64_t>(base.find("a")->value), 1);
  overlay(base, toml("a = 2\n"));
  overlay(base, toml("a = 3\n"));
  EXPECT_EQ(std::get<std::int64_t>(base.find("a")->value), 3);
}

// ---- whatever comes in ----

RC_GTEST_PROP(ParseDocument, BytesGiveAValueOrOneProblem, (const std::string& text)) {
  const Result<Document> from_json = parse_json(text, "f");
  RC_ASSERT((from_json.ok() || from_json.problems().size() == 1));
  const Result<Document> from_toml = parse_toml(text, "f");
  RC_ASSERT((from_toml.ok() || from_toml.problems().size() == 1));
}

RC_GTEST_PROP(ParseDocument, WholeNumbersSurviveBothFormats, (std::int64_t number)) {
  const std::string digits = std::to_string(number);
  RC_ASSERT(std::get<std::int64_t>(json("{\"n\": " + digits + "}").find("n")->value) == number);
  RC_ASSERT(std::get<std::int64_t>(toml("n = " + digits).find("n")->value) == number);
}

RC_GTEST_PROP(ParseDocument, RealNumbersSurviveBothFormats, (double number)) {
  RC_PRE(std::isfinite(number));
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.17e", number);
  RC_ASSERT(std::get<double>(json("{\"n\": " + std::string(digits) + "}").find("n")->value) ==
            number);
  RC_ASSERT(std::get<double>(toml("n = " + std::string(digits)).find("n")->value) == number);
}

}  // namespace
}  // namespace headway
