#include "base/text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace headway {
namespace {

using Texts = std::vector<std::string>;

TEST(Nearest, FindsATypingError) {
  const Texts models = {"llama-2-7b", "llama-2-70b", "gpt3-175b"};
  EXPECT_EQ(nearest("lama-2-70b", models), "llama-2-70b");
  EXPECT_EQ(nearest("gpt-175b", models), "gpt3-175b");
  EXPECT_EQ(nearest("LLAMA-2-7B", models), "llama-2-7b");
}

TEST(Nearest, PrefersTheFirstOfEquallyNearOnes) {
  EXPECT_EQ(nearest("ab", Texts{"ac", "ad"}), "ac");
}

TEST(Nearest, AllowsAThirdOfTheLengthAndAtLeastTwo) {
  EXPECT_EQ(nearest("abc", Texts{"axy"}), "axy");                    // 2 of 3 letters differ
  EXPECT_EQ(nearest("abc", Texts{"xyz"}), "");                       // 3
  EXPECT_EQ(nearest("abcdefghi", Texts{"abcdefxyz"}), "abcdefxyz");  // 3 of 9
  EXPECT_EQ(nearest("abcdefghi", Texts{"abcdewxyz"}), "");           // 4 of 9
}

TEST(Nearest, IsEmptyWithoutCandidatesAndForHugeNames) {
  EXPECT_EQ(nearest("a", {}), "");
  const std::string huge(257, 'a');
  EXPECT_EQ(nearest(huge, Texts{huge}), "");
}

// Edits counted by construction: k distinct places replaced by a letter outside the alphabet.
RC_GTEST_PROP(Nearest, CountsSubstitutions, ()) {
  const auto length = *rc::gen::inRange<std::size_t>(6, 60);
  const auto changed = *rc::gen::inRange<std::size_t>(0, length + 1);
  const std::string name(length, 'a');
  std::string other = name;
  for (std::size_t i = 0; i < changed; ++i) other[i] = 'z';
  const bool near = changed <= std::max<std::size_t>(2, length / 3);
  RC_ASSERT(nearest(name, Texts{other}) == (near ? other : ""));
}

TEST(Nearest, IsNotANameOfWhichNoLetterIsRight) {
  EXPECT_EQ(nearest("", Texts{"p5"}), "");
  EXPECT_EQ(nearest("y", Texts{"p5"}), "");
  EXPECT_EQ(nearest("xy", Texts{"p5"}), "");
  EXPECT_EQ(nearest("p4", Texts{"p5"}), "p5");
}

TEST(Suggestion, NamesThoseOfWhichTheNameIsAWordBeforeTheNearest) {
  const Texts clusters = {"dgx-a100", "dgx-h100", "h100-pcie-8", "p4d"};
  EXPECT_EQ(suggestion("H100", clusters), "; did you mean 'dgx-h100' or 'h100-pcie-8'?");
  EXPECT_EQ(suggestion("h100-pcie", clusters), "; did you mean 'h100-pcie-8'?");
  EXPECT_EQ(suggestion("lama", Texts{"llama", "llama4"}), "; did you mean 'llama'?");
}

TEST(Suggestion, NamesTheNearestOrAllThatIsKnown) {
  EXPECT_EQ(suggestion("fsdq", Texts{"fsdp", "megatron"}), "; did you mean 'fsdp'?");
  EXPECT_EQ(suggestion("quite-else", Texts{"fsdp", "megatron"}), "; known: fsdp, megatron");
  EXPECT_EQ(suggestion("x", {}), "");
}

TEST(Printable, ShowsControlCharacters) {
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\x0dd");
  EXPECT_EQ(printable("\x1b[31mred\x7f"), "\\x1b[31mred\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, KeepsUtf8AndShowsWhatIsNone) {
  EXPECT_EQ(printable("µ→𝄞"), "µ→𝄞");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // '/' written too long
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J");  // U+009B, the one-byte CSI of terminals
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdef", 5), "abcde...");
  EXPECT_EQ(printable("abµ", 3), "ab...");  // µ takes two bytes
  EXPECT_EQ(printable("abc", 0), "...");
  EXPECT_EQ(printable(std::string(81, 'x')), std::string(80, 'x') + "...");
}

RC_GTEST_PROP(Printable, LeavesNoControlCharacterWhateverComesIn, (const std::string& text)) {
  for (const char c : printable(text, 1000)) {
    RC_ASSERT(static_cast<unsigned char>(c) >= 0x20);
    RC_ASSERT(static_cast<unsigned char>(c) != 0x7f);
  }
}

RC_GTEST_PROP(Printable, ItsOutputIsPrintableAsItStands, (const std::string& text)) {
  const std::string once = printable(text, 1000);
  RC_ASSERT(printable(once, 100000) == once);
}

TEST(Join, PutsTheSeparatorBetween) {
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(join(Texts{"a"}, ", "), "a");
  EXPECT_EQ(join(Texts{"a", "", "b"}, ", "), "a, , b");
}

TEST(Lower, ChangesAsciiLettersOnly) {
  EXPECT_EQ(lower("AZaz09-Ä"), "azaz09-Ä");
}

TEST(Text, ADateCountsInYearsToTheMiddleOfItsMonth) {
  EXPECT_DOUBLE_EQ(years_of("2025").value(), 2025.5);
  EXPECT_DOUBLE_EQ(years_of("2025-01").value(), 2025 + 0.5 / 12);
  EXPECT_DOUBLE_EQ(years_of("2024-12-31").value(), 2024 + 11.5 / 12);
  for (const char* wrong : {"", "25", "1999", "2101", "2025-", "2025-13", "2025-00", "2025-1",
                            "2025/01", "2025-01-32", "2025-01-1", "2025-01-01T", "2025-ab"}) {
    EXPECT_FALSE(years_of(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace headway
