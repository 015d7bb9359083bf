#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdio>

#include "base/document/document.hpp"
#include "base/document/toml_for_test.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

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
      toml("\xef\xbb\xbf# µ\na = 'µ' # é\n\"é\" = \"\"\"é \\\n  é é\"\"\"\nb = \"\\\\é\"\n");
  EXPECT_EQ(std::get<std::string>(root.find("a")->value), "µ");
  EXPECT_EQ(std::get<std::string>(root.find("é")->value), "é é é");
  EXPECT_EQ(std::get<std::string>(root.find("b")->value), "\\é");
  for (const char* text :
       {"\na = 1 é", "\né = 1", "\n\xc2\xa0 a = 1", "\na = é", "\na = [1,\xe2\x80\x83 2]", "\n[é]",
        "\na.é = 1", "\na = {é = 1}", "\na = \"\"\"\\é\"\"\"", "\na = \"\\é\""}) {
    const std::string message = said(parse_toml(text, "f.toml"));
    EXPECT_TRUE(message.starts_with("f.toml:2 is not valid TOML: ")) << text;
    EXPECT_TRUE(message.ends_with(" (a character outside ASCII)")) << text << message;
  }
}

// Every kind of sequence that is no UTF-8: cut off, overlong, a surrogate, beyond U+10FFFF, a byte
// that goes on without a first one.
TEST(ParseToml, WhatIsNoUtf8IsAProblemWithItsLineAlsoInQuotesAndComments) {
  for (const std::string bytes :
       {"\xff", "\xc3", "\xc0\xaf", "\xe2\x82", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf0\x9f\x92", "\x80"}) {
    for (const std::string& text : {"\na = '" + bytes + "'", "\n# " + bytes, "\n" + bytes + " = 1",
                                    "\na = \"\"\"" + bytes + "\"\"\"", "\n" + bytes}) {
      EXPECT_EQ(said(parse_toml(text, "f.toml")),
                "f.toml:2 is not valid TOML: it holds bytes that are no UTF-8")
          << printable(text);
    }
  }
}

// A quote that follows what is no value opens no string. The first three were found by fuzzing:
// toml++ ran into undefined behaviour at the µ.
TEST(ParseToml, AQuoteAfterAMalformedValueHidesNothing) {
  const std::string micro = "µs";
  for (const std::string& text :
       {"name = 1e400" + repeated("1e400", 14) + "\"" + micro + "llama3",
        "size = 6" + repeated("'", 44) + repeated(micro, 3) + repeated("'", 160) + "5536",
        "ep = 6\"" + repeated(micro, 64)}) {
    EXPECT_TRUE(said(parse_toml("\n" + text, "f.toml")).starts_with("f.toml:2 ")) << text;
  }
  // Too early an end, too late a one, and what is no value at all.
  for (const std::string value :
       {"1e400",    "6",   "-",    "+1",  "0x", "1_",         "1.",
        ".5",       "tru", "true", "nan", "i",  "1979-05-27", "1979-05-27T07",
        "07:32:00", "'a'", "[1",   "[1]", "{",  "{a=1}",      "x",
        "-inf",     "!",   "\\"}) {
    for (const std::string quote : {"'", "\"", "'''", "\"\"\"", "''''", "\"\"\"\"\""}) {
      // Of each block that toml++ looks at for white space one that is and one that is not.
      for (const char* character :
           {"\u0080", "\u0085", "\u00a0", "µ", "\u1680", "\u1681", "\u180e", "\u2003", "\u2010",
            "\u2028", "\u205f", "\u3000", "中", "\ufeff", "\ufffd", "\U0001f4a9", "\U0010ffff", "`",
            "`c2b5;"}) {
        const std::string text = "\na = " + value + quote + character;
        for (const std::string& whole : {text, text + "\n", text + quote, text + "= 1" + quote}) {
          EXPECT_TRUE(said(parse_toml(whole, "f.toml")).starts_with("f.toml:")) << whole;
        }
      }
    }
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

// A code point as UTF-8, by its definition (RFC 3629, section 3).
std::string utf8(char32_t point) {
  const auto byte = [](char32_t value) { return static_cast<char>(value); };
  const auto next = [&](int shift) { return byte(0x80 | ((point >> shift) & 0x3f)); };
  if (point < 0x80) return {byte(point)};
  if (point < 0x800) return {byte(0xc0 | (point >> 6)), next(0)};
  if (point < 0x10000) return {byte(0xe0 | (point >> 12)), next(6), next(0)};
  return {byte(0xf0 | (point >> 18)), next(12), next(6), next(0)};
}

std::string escaped(char32_t point, bool is_long, bool upper) {
  char text[11];
  std::snprintf(text, sizeof text,
                is_long ? (upper ? "\\U%08X" : "\\U%08x") : (upper ? "\\u%04X" : "\\u%04x"),
                static_cast<unsigned>(point));
  return text;
}

// Each character stands as it is or escaped; many are those of which the escapes of this reader are
// made.
RC_GTEST_PROP(ParseToml, TextsAndKeysOfAnyCharactersComeBackAsWritten, ()) {
  const std::u32string likely = U"`;\\u0060c2b5 \"'aé\u0085\u00a0µ\u2028\ufeff\U0010ffff";
  std::string meant, basic, literal;
  const auto length = *rc::gen::inRange(0, 40);
  for (int i = 0; i < length; ++i) {
    const auto any = *rc::gen::inRange<std::uint32_t>(0x20, 0x110000 - 0x800);
    const char32_t point = *rc::gen::arbitrary<bool>() ? *rc::gen::elementOf(likely)
                           : any < 0xd800              ? any
                                                       : any + 0x800;  // no surrogates
    if (point == 0x7f) continue;                          // a control character
    meant += utf8(point);
    const bool escape = point == '"' || point == '\\' || *rc::gen::arbitrary<bool>();
    basic += escape ? escaped(point, point > 0xffff || *rc::gen::arbitrary<bool>(),
                              *rc::gen::arbitrary<bool>())
                    : utf8(point);
    if (point != '\'') literal += utf8(point);
  }
  const Node root = toml("basic = \"" + basic + "\"\nliteral = '" + literal + "' # " + meant +
                         "\nblock = \"\"\"\n" + basic + "\"\"\"\nraw = '''\n" + literal +
                         "'''\n[x.\"" + basic + "\"]\n'y" + literal + "' = 1\n");
  RC_ASSERT(std::get<std::string>(root.find("basic")->value) == meant);
  RC_ASSERT(std::get<std::string>(root.find("block")->value) == meant);
  RC_ASSERT(std::get<std::string>(root.find("literal")->value) == literal);
  RC_ASSERT(std::get<std::string>(root.find("raw")->value) == literal);
  const Node* table = root.find("x")->find(meant);
  RC_ASSERT(table != nullptr);
  RC_ASSERT(table->find("y" + literal) != nullptr);
  RC_ASSERT(table->find("y" + literal)->line == 8);
}

TEST(ParseToml, MessagesQuoteWhatStandsInTheFile) {
  const auto message = [](std::string_view text) { return said(parse_toml(text, "f.toml")); };
  EXPECT_EQ(
      message("[\"é`;\"]\n[\"é`;\"]"),
      "f.toml:2 is not valid TOML: Error while parsing table header: cannot redefine existing "
      "table '\"é`;\"'");
  EXPECT_NE(message("[\"\\u0060c2b5;\"]\n[\"\\u0060c2b5;\"]").find("\\u0060c2b5;\"'"),
            std::string::npos);
  EXPECT_TRUE(message("a = 1 é").ends_with("saw 'é' (a character outside ASCII)"));
  EXPECT_TRUE(message("a = 1 `").ends_with("saw '`'"));
  EXPECT_TRUE(message("a = 1 # é\nb = 2 !").ends_with("saw '!'"));
}

}  // namespace
}  // namespace headway
