#include <gtest/gtest.h>

#include <cmath>

#include "base/document/document.hpp"

namespace headway {
namespace {

Document document(std::string_view text) {
  Result<Document> parsed = parse_toml(text, "f.toml");
  if (parsed.ok()) return std::move(parsed).value();
  ADD_FAILURE() << where_text(parsed.problems()[0]) << " " << parsed.problems()[0].message;
  return {};
}

std::vector<std::string> said(const Problems& problems) {
  std::vector<std::string> out;
  for (const Problem& problem : problems)
    out.push_back(where_text(problem) + " " + problem.message);
  return out;
}

using Said = std::vector<std::string>;

TEST(Fields, ReadsWhatIsThere) {
  const Document file = document(
      "name = 'dgx'\nnodes = 4\nzero = 0\nshare = 0.5\nwhole = 3\non = true\n"
      "sizes = [1, 0, 3]\nnames = ['a', 'b']\nmemory = '80 GiB'\n");
  Problems problems;
  Fields fields(file, problems);
  EXPECT_EQ(fields.text("name"), "dgx");
  EXPECT_EQ(fields.text_or("name", "other"), "dgx");
  EXPECT_EQ(fields.count("nodes"), 4);
  EXPECT_EQ(fields.count_or("nodes", 1), 4);
  EXPECT_EQ(fields.natural("zero"), 0);
  EXPECT_EQ(fields.natural_or("zero", 9), 0);
  EXPECT_EQ(fields.number("share"), 0.5);
  EXPECT_EQ(fields.number("whole"), 3.0);
  EXPECT_EQ(fields.number_or("share", 1), 0.5);
  EXPECT_TRUE(fields.flag_or("on", false));
  EXPECT_EQ(fields.naturals_or_empty("sizes"), (std::vector<std::int64_t>{1, 0, 3}));
  EXPECT_EQ(fields.texts_or_empty("names"), (Said{"a", "b"}));
  EXPECT_EQ(fields.quantity<Bytes>("memory"), 80_GiB);
  EXPECT_EQ(fields.quantity_or<Bytes>("memory", 1_GiB), 80_GiB);
  EXPECT_EQ(where_text(fields.where()), "f.toml:1");
  fields.reject_unknown();
  EXPECT_EQ(said(problems), Said{});
}

TEST(Fields, FallsBackWhereAFieldIsMissing) {
  const Document file = document("");
  Problems problems;
  Fields fields(file, problems);
  EXPECT_EQ(fields.text_or("a", "x"), "x");
  EXPECT_EQ(fields.count_or("a", 7), 7);
  EXPECT_EQ(fields.natural_or("a", 8), 8);
  EXPECT_EQ(fields.number_or("a", 0.25), 0.25);
  EXPECT_TRUE(fields.flag_or("a", true));
  EXPECT_TRUE(fields.naturals_or_empty("a").empty());
  EXPECT_TRUE(fields.texts_or_empty("a").empty());
  EXPECT_EQ(fields.quantity_or<Watts>("a", Watts(5)), Watts(5));
  EXPECT_TRUE(fields.table("a").keys().empty());
  EXPECT_TRUE(fields.tables("a").empty());
  EXPECT_TRUE(problems.empty());
}

TEST(Fields, ReportsAllProblemsOfAFileAtOnceWithFileLineAndPath) {
  const Document file = document(
      "name = 5\n"           // 1
      "nodes = 0\n"          // 2
      "share = nan\n"        // 3
      "memory = '80'\n"      // 4
      "power = 700\n"        // 5
      "flag = 'yes'\n"       // 6
      "[link]\n"             // 7
      "speed = '-1 GB/s'\n"  // 8
      "[[levels]]\n"         // 9
      "size = 1.5\n"         // 10
      "[[levels]]\n"         // 11
      "szie = 8\n");         // 12
  Problems problems;
  Fields fields(file, problems);
  fields.text("name");
  fields.count("nodes");
  fields.number("share");
  fields.quantity<Watts>("memory");
  fields.quantity<Watts>("power");
  fields.flag_or("flag", false);
  fields.text("absent");
  fields.table("link").quantity<BytesPerSecond>("speed");
  for (Fields& level : fields.tables("levels")) {
    level.count("size");
    level.reject_unknown();
  }
  fields.reject_unknown();
  EXPECT_EQ(
      said(problems),
      (Said{"f.toml:1: name must be text in quotes, with its unit if it is a quantity",
            "f.toml:2: nodes is 0; must be a whole number from 1 to 10^15",
            "f.toml:3: share must be a finite number",
            "f.toml:4: memory '80' has no unit; write a number and one of the units W, kW, MW, "
            "e.g. \"1.5 MW\"",
            "f.toml:5: power must be text in quotes, with its unit if it is a quantity",
            "f.toml:6: flag must be true or false", "f.toml:1: absent is missing",
            "f.toml:8: link.speed must be greater than zero",
            "f.toml:10: levels[0].size must be a whole number",
            "f.toml:11: levels[1].size is missing",
            "f.toml:12: levels[1].szie is not a known field; did you mean 'size'?"}));
}

TEST(Fields, OddNumbersAreProblems) {
  const Document file = document(
      "nan = nan\ninf = inf\nminus = -inf\nnegative_zero = -0\nhuge = 1e300\nover = "
      "1000000000000001\nleast = -9223372036854775808\nbelow = -1\nhalf = 0.5\n");
  for (const char* key : {"nan", "inf", "minus"}) {
    Problems problems;
    EXPECT_EQ(Fields(file, problems).number(key), 0) << key;
    EXPECT_EQ(problems.size(), 1u) << key;
  }
  for (const char* key :
       {"nan", "inf", "minus", "negative_zero", "huge", "over", "least", "below", "half"}) {
    Problems problems;
    EXPECT_EQ(Fields(file, problems).count(key), 0) << key;
    EXPECT_EQ(problems.size(), 1u) << key;
  }
  for (const char* key : {"nan", "inf", "minus", "huge", "over", "least", "below", "half"}) {
    Problems problems;
    EXPECT_EQ(Fields(file, problems).natural(key), 0) << key;
    EXPECT_EQ(problems.size(), 1u) << key;
  }
}

TEST(Fields, WholeNumbersMayBeWrittenAsReals) {
  const Document file = document("tokens = 15e12\nmost = 1e15\nzero = -0.0\n");
  Problems problems;
  Fields fields(file, problems);
  EXPECT_EQ(fields.count("tokens"), 15'000'000'000'000);
  EXPECT_EQ(fields.count("most"), 1'000'000'000'000'000);
  EXPECT_EQ(fields.natural("zero"), 0);
  EXPECT_FALSE(std::signbit(fields.number("zero")));
  EXPECT_TRUE(problems.empty());
}

TEST(Fields, AQuantityMustBePositiveFiniteAndNotEmpty) {
  const Document file = document(
      "a = '0 s'\nb = '-0.0 s'\nc = '-1 s'\nd = ''\ne = '1e400 s'\nf = 'nan s'\ng = '5 GB'\n");
  for (const char* key : {"a", "b", "c", "d", "e", "f", "g"}) {
    Problems problems;
    EXPECT_EQ(Fields(file, problems).quantity<Seconds>(key), Seconds()) << key;
    EXPECT_EQ(problems.size(), 1u) << key;
  }
}

TEST(Fields, WrongKindsOfValueAreProblems) {
  const Document file = document("number = 1\nlist = [1, 'a', {}]\ntable = {}\n");
  const auto count = [&](const auto& read) {
    Problems problems;
    Fields fields(file, problems);
    read(fields);
    return problems.size();
  };
  EXPECT_EQ(count([](Fields& f) { f.table("number"); }), 1u);
  EXPECT_EQ(count([](Fields& f) { f.tables("number"); }), 1u);
  EXPECT_EQ(count([](Fields& f) { f.tables("list"); }), 2u);             // 1 and 'a'
  EXPECT_EQ(count([](Fields& f) { f.naturals_or_empty("list"); }), 2u);  // 'a' and {}
  EXPECT_EQ(count([](Fields& f) { f.texts_or_empty("list"); }), 2u);     // 1 and {}
  EXPECT_EQ(count([](Fields& f) { f.naturals_or_empty("table"); }), 1u);
  EXPECT_EQ(count([](Fields& f) { f.text("table"); }), 1u);
  EXPECT_EQ(count([](Fields& f) { f.number("list"); }), 1u);
  EXPECT_EQ(count([](Fields& f) { f.count("table"); }), 1u);
  EXPECT_EQ(count([](Fields& f) { f.table("absent", true); }), 1u);
}

TEST(Fields, ANullCountsAsMissing) {
  const Result<Document> file = parse_json("{\n\"window\": null}", "c.json");
  ASSERT_TRUE(file.ok());
  Problems problems;
  Fields fields(*file, problems);
  EXPECT_FALSE(fields.has("window"));
  EXPECT_EQ(fields.count_or("window", 4), 4);
  fields.count("window");
  EXPECT_EQ(said(problems), (Said{"c.json:2: window is missing"}));
}

TEST(Fields, UnknownNamesAreShownHarmlessly) {
  const Document file = document("\"a\\u001b[2J\" = {b = 1}\n");
  Problems problems;
  Fields fields(file, problems);
  for (const std::string& key : fields.keys()) fields.table(key).reject_unknown();
  Fields(file, problems).reject_unknown();
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(where_text(problems[0]), "f.toml:1: a\\x1b[2J.b");
  EXPECT_EQ(where_text(problems[1]), "f.toml:1: a\\x1b[2J");
}

TEST(Fields, AValueFromTheCommandLineHasNoLine) {
  const Node flags{Node::Table{{"tp", Node{std::int64_t{0}, 0}}}, 0};
  Problems problems;
  Fields(flags, "command line", "--", problems).count("tp");
  EXPECT_EQ(said(problems),
            (Said{"command line: --tp is 0; must be a whole number from 1 to 10^15"}));
}

}  // namespace
}  // namespace headway
