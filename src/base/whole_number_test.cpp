#include "base/whole_number.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(WholeNumber, IsTheWholeOfTheTextOrNothing) {
  EXPECT_EQ(whole_number("0"), 0);
  EXPECT_EQ(whole_number("-17"), -17);
  EXPECT_EQ(whole_number("0128"), 128);
  EXPECT_EQ(whole_number("9223372036854775807"), 9223372036854775807);
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1.0", "1e3", "0x10", "eight",
                           "9223372036854775808", "-9223372036854775809"}) {
    EXPECT_EQ(whole_number(text), std::nullopt) << text;
  }
}

TEST(WholeNumber, MultiplesNearItLieBelowAndAbove) {
  EXPECT_EQ(multiples_near(130, 64), (std::vector<std::int64_t>{128, 192}));
  EXPECT_EQ(multiples_near(1'030, 64), (std::vector<std::int64_t>{1'024, 1'088}));
  EXPECT_EQ(multiples_near(8, 64), (std::vector<std::int64_t>{64}));
}

// A sum of 980 tenths is no whole number of doubles.
TEST(WholeNumber, ACountIsWholeButForWhatSumsLeaveBehind) {
  double sum = 0;
  for (int i = 0; i < 980; ++i) sum += 0.1;
  ASSERT_NE(sum, 98);
  EXPECT_EQ(whole_if_near(sum), 98);
  EXPECT_EQ(whole_if_near(97.99999999999999), 98);
  EXPECT_EQ(whole_if_near(97.999), 97.999);
  EXPECT_EQ(whole_if_near(0), 0);
  EXPECT_EQ(whole_if_near(0.5), 0.5);
}

}  // namespace
}  // namespace headway
