#include "base/formatted.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(Formatted, WritesWhatPrintfWrites) {
  EXPECT_EQ(formatted("%.2f", 1.005e3), "1005.00");
  EXPECT_EQ(formatted("%+.1f %%", -0.25), "-0.2 %");  // half to even
  EXPECT_EQ(formatted("%s of %d", "one", 3), "one of 3");
  EXPECT_EQ(formatted("%s", ""), "");
}

TEST(Formatted, HoldsTextOfAnyLength) {
  EXPECT_EQ(formatted("%.0f", 1e300).size(), 301u);
  EXPECT_EQ(formatted("%s!", std::string(5000, 'x').c_str()), std::string(5000, 'x') + "!");
}

TEST(ShortestText, HasTheDigitsThatAreReadBackAsTheSameNumberAndNoMore) {
  EXPECT_EQ(shortest_text(0.1), "0.1");
  EXPECT_EQ(shortest_text(3), "3");
  EXPECT_EQ(shortest_text(1e300), "1e+300");
  EXPECT_EQ(shortest_text(1.0 / 3), "0.3333333333333333");
}

}  // namespace
}  // namespace headway
