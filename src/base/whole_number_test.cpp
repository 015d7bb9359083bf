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

}  // namespace
}  // namespace headway
