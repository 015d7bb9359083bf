#include "base/written_count.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace headway {
namespace {

TEST(WrittenCount, ReadsThousandsBetweenCommasAndBinaryMultiples) {
  EXPECT_EQ(written_count("2048"), 2048);
  EXPECT_EQ(written_count("2,048"), 2048);
  EXPECT_EQ(written_count("1,048,576"), 1'048'576);
  EXPECT_EQ(written_count("8k"), 8192);
  EXPECT_EQ(written_count("128K"), 131'072);
  EXPECT_EQ(written_count("1M"), 1'048'576);
  EXPECT_EQ(written_count("-1,024"), -1024);
}

TEST(WrittenCount, IsNothingForAnythingElse) {
  for (const char* text : {"",
                           "k",
                           "8 k",
                           "8kk",
                           "8kb",
                           "1.5k",
                           "20,48",
                           ",048",
                           "2,04",
                           "2,0480",
                           "2,,048",
                           "2048,",
                           "0x10",
                           "1e3",
                           "+8",
                           "- 8",
                           "9223372036854775808",
                           "9007199254740992k",
                           "12,345,67",
                           "1234,567"}) {
    EXPECT_FALSE(written_count(text).has_value()) << text;
  }
}

RC_GTEST_PROP(WrittenCount, OfAnyNumberWithCommasIsThatNumber, (std::int64_t number)) {
  std::string text = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3; at -= 3) text.insert(at - 3, ",");
  RC_ASSERT(written_count(text) == number);
}

}  // namespace
}  // namespace headway
