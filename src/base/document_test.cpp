#include "base/document.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace headway {
namespace {

namespace fs = std::filesystem;

Node root_of(const Result<Document>& document) {
  if (document.ok()) return document->root;
  ADD_FAILURE() << document.problems()[0].where << " " << document.problems()[0].message;
  return Node{Node::Table{}, 0};
}
Node json(std::string_view text) {
  return root_of(parse_json(text, "f.json"));
}
Node toml(std::string_view text) {
  return root_of(parse_toml(text, "f.toml"));
}

std::string said(const Result<Document>& document) {
  if (document.ok()) return "no problem";
  return document.problems()[0].where + " " + document.problems()[0].message;
}

// The line of the member that a path leads to.
int line_of(const Node& root, std::initializer_list<std::string_view> path) {
  const Node* node = &root;
  for (const std::string_view key : path) {
    node = node->find(key);
    if (node == nullptr) return -1;
  }
  return node->line;
}

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
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

// ---- TOML ----

TEST(ParseToml, KeepsValuesTypesAndOrder) {
  const Node root = toml("z = 1\na = [true, 'x', -2.5]\nm = {y = 1, b = 2}\nday = 2024-05-01\n");
  const Node::Table& members = *root.table();
  ASSERT_EQ(members.size(), 4u);
  EXPECT_EQ(members[0].first, "z");
  EXPECT_EQ(members[1].first, "a");
  const Node::Array& list = *members[1].second.array();
  EXPECT_EQ(std::get<bool>(list[0].value), true);
  EXPECT_EQ(std::get<std::string>(list[1].value), "x");
  EXPECT_EQ(std::get<double>(list[2].value), -2.5);
  EXPECT_EQ((*members[2].second.table())[0].first, "y");  // also within one line
  EXPECT_EQ(std::get<std::string>(root.find("day")->value), "2024-05-01");
}

TEST(ParseToml, KnowsTheLineOfEachMember) {
  const std::string text =
      "# a comment\n"  // 1
      "one = 1\n"      // 2
      "list = [\n"     // 3
      "  10,\n"        // 4
      "  20,\n"        // 5
      "]\n"            // 6
      "\n"             // 7
      "[table]\n"      // 8
      "text = 'a'\n"   // 9
      "sub.key = 5\n"  // 10
      "[[levels]]\n"   // 11
      "size = 8\n"     // 12
      "[[levels]]\n"   // 13
      "size = 4\n";    // 14
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  for (const std::string& form : {text, crlf}) {
    const Node root = toml(form);
    EXPECT_EQ(line_of(root, {"one"}), 2);
    EXPECT_EQ(line_of(root, {"list"}), 3);
    EXPECT_EQ((*root.find("list")->array())[1].line, 5);
    EXPECT_EQ(line_of(root, {"table"}), 8);
    EXPECT_EQ(line_of(root, {"table", "text"}), 9);
    EXPECT_EQ(line_of(root, {"table", "sub", "key"}), 10);
    const Node::Array& levels = *root.find("levels")->array();
    EXPECT_EQ(levels[0].line, 11);
    EXPECT_EQ(levels[0].find("size")->line, 12);
    EXPECT_EQ(levels[1].line, 13);
    EXPECT_EQ(levels[1].find("size")->line, 14);
  }
}

TEST(ParseToml, WhatIsNoTomlIsAProblemWithItsLine) {
  EXPECT_EQ(said(parse_toml("a = 1\nb = \n", "f.toml")).rfind("f.toml:2 is not valid TOML", 0), 0u);
  for (const char* text : {"a", "a = ", "a = 1 2", "[a", "a = 1\na = 2", "a = 'x", "a = 01", "= 1",
                           "a = 1e400", "a = 9223372036854775808", "a = \"\xff\"", "a = 1\rb = 2",
                           "# \x1b[2J", "a = '\x7f'", "[a]\n[a]"}) {
    EXPECT_FALSE(parse_toml(text, "f.toml").ok()) << text;
  }
}

TEST(ParseToml, AnEmptyFileIsAnEmptyTable) {
  EXPECT_TRUE(toml("").table()->empty());
}

TEST(ParseToml, SixtyFourLevelsAreReadAndOneMoreIsAProblem) {
  const auto lists = [](int levels) {  // the root is the first level
    return "a = " + repeated("[", levels - 1) + repeated("]", levels - 1);
  };
  EXPECT_TRUE(parse_toml(lists(64), "f.toml").ok());
  EXPECT_FALSE(parse_toml(lists(65), "f.toml").ok());
  // a.b = 1 nests two levels: the root and a.
  EXPECT_TRUE(parse_toml("x" + repeated(".x", 63) + " = 1", "f.toml").ok());
  EXPECT_NE(said(parse_toml("x" + repeated(".x", 64) + " = 1", "f.toml")).find("deeper than 64"),
            std::string::npos);
  EXPECT_NE(
      said(parse_toml("[x" + repeated(".x", 40) + "]\nx" + repeated(".x", 40) + " = 1", "f.toml"))
          .find("deeper than 64"),
      std::string::npos);
}

TEST(ParseToml, DeepNestingOfAnyFormIsAProblemAndNoCrash) {
  const std::string dots = repeated(".x", 1'000'000);
  for (const std::string& text :
       {std::string("[[["), std::string("["), repeated("[", 1'000'000),
        "a = " + repeated("[", 1'000'000), "a = " + repeated("{a=", 1'000'000), "x" + dots + " = 1",
        "[x" + dots + "]", "[[x" + dots + "]]", "a = {x" + dots + " = 1}",
        "a = {b = \"\"\"x\"\"\"\", x" + dots + " = 1}", "a = {b = '''x''''', x" + dots + " = 1}",
        "a = {b = \"\\\"\", x" + dots + " = 1}", "\"=\"" + repeated(".\"=\"", 500'000) + " = 1",
        "'{'" + repeated(" . '#'", 500'000) + " = 1", "# comment '\nx" + dots + " = 1"}) {
    EXPECT_FALSE(parse_toml(text, "f.toml").ok()) << text.substr(0, 40);
  }
}

TEST(ParseToml, CharactersOutsideAsciiStandInQuotesAndCommentsOnly) {
  const Node root =
      toml("\xef\xbb\xbf# µ\na = 'µ' # é\n\"é\" = \"\"\"é \\\n  x é\"\"\"\nb = \"\\\\é\"\n");
  EXPECT_EQ(std::get<std::string>(root.find("a")->value), "µ");
  EXPECT_EQ(std::get<std::string>(root.find("é")->value), "é x é");
  EXPECT_EQ(std::get<std::string>(root.find("b")->value), "\\é");
  for (const char* text :
       {"\na = 1 é", "\né = 1", "\na = é", "\n\xc2\xa0 a = 1", "\na = [1,\xe2\x80\x83 2]",
        "\na = \"\"\"\\é\"\"\"", "\na = \"\"\"\\\n  é\"\"\""}) {
    EXPECT_TRUE(said(parse_toml(text, "f.toml")).starts_with("f.toml:2 ")) << text;
  }
}

TEST(ParseToml, ManyPointsAreNoDeepKey) {
  const Node root =
      toml("source = '" + std::string(200, '.') + "'\nlong = \"\"\"\n" + std::string(200, '.') +
           "\n\"\"\"\nreals = [" + repeated("0.5, ", 200) + "]\n# " + std::string(200, '.') + "\n" +
           repeated("[[a.b]]\nx.y = 1\n", 100));
  EXPECT_EQ(root.find("reals")->array()->size(), 200u);
  EXPECT_EQ(root.find("a")->find("b")->array()->size(), 100u);
}

TEST(ParseToml, InputOfMoreThan16MebibytesIsAProblem) {
  const std::string full = "a = 1" + std::string(kLargestDocument - 5, '\n');
  EXPECT_TRUE(parse_toml(full, "f.toml").ok());
  EXPECT_EQ(said(parse_toml(full + "\n", "f.toml")), "f.toml is larger than 16 MiB");
}

// ---- files ----

class ReadDocument : public ::testing::Test {
 protected:
  // One folder for each test: cases run side by side.
  ReadDocument()
      : folder_(fs::path(::testing::TempDir()) /
                ("headway_" +
                 std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ReadDocument() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view text) {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  fs::path folder_;
};

TEST_F(ReadDocument, TomlByItsNameAndJsonOtherwise) {
  EXPECT_TRUE(read_document(write("a.toml", "tp = 8\n")).ok());
  EXPECT_TRUE(read_document(write("config.json", "{\"tp\": 8}")).ok());
  EXPECT_TRUE(read_document(write("no-ending", "{\"tp\": 8}")).ok());
  EXPECT_FALSE(read_document(write("b.json", "tp = 8\n")).ok());
}

TEST_F(ReadDocument, MissingFilesAndFoldersAreProblems) {
  const std::string missing = (folder_ / "none.toml").string();
  EXPECT_EQ(said(read_document(missing)), missing + " cannot be opened for reading");
  EXPECT_EQ(said(read_document(folder_.string())), folder_.string() + " cannot be read");
}

TEST_F(ReadDocument, KeepsEveryByteAndRefusesMoreThan16Mebibytes) {
  std::string bytes(kLargestDocument, '\n');
  for (std::size_t i = 0; i < bytes.size(); i += 997) bytes[i] = static_cast<char>(i);
  const Result<std::string> read = read_file(write("full", bytes));
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(*read == bytes);
  const std::string path = write("over", bytes + " ");
  EXPECT_EQ(read_file(path).problems()[0], (Problem{path, "is larger than 16 MiB"}));
}

TEST_F(ReadDocument, ANameWithControlCharactersIsShownHarmlessly) {
  const std::string path = write("a\x1b[2J.toml", "x = \n");
  const std::string message = said(read_document(path));
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_NE(message.find("a\\x1b[2J.toml:1 "), std::string::npos);
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
