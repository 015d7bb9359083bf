#include "base/draw/plot.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(Plot, ScalesMapLinearlyAndByRatioAndKeepWhatIsOutsideAtTheBorder) {
  const Scale linear = {0, 10, 100, 200, false}, log = {1, 100, 300, 100, true};
  EXPECT_NEAR(linear.at(2.5), 125, 1e-9);
  EXPECT_NEAR(log.at(10), 200, 1e-9);  // half of the way, upwards
  EXPECT_NEAR(log.at(1000), 100, 1e-9);
  EXPECT_NEAR(linear.at(-1), 100, 1e-9);
}

TEST(Plot, TicksAreRoundAndFewEnoughToBeRead) {
  EXPECT_EQ(ticks({0, 100, 0, 200, false}), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(ticks({1, 20, 0, 200, true}), (std::vector<double>{1, 2, 5, 10, 20}));
  // Six powers of ten in 160 pixels: room for four ticks.
  EXPECT_EQ(ticks({0.5, 500'000, 0, 160, true}), (std::vector<double>{1, 100, 10'000}));
}

TEST(Plot, TickLabelsAreShort) {
  EXPECT_EQ(tick_label(0.05), "0.05");
  EXPECT_EQ(tick_label(-0.5), "-0.5");
  EXPECT_EQ(tick_label(1e-17), "0");
  EXPECT_EQ(tick_label(999), "999");
  EXPECT_EQ(tick_label(1000), "1,000");
  EXPECT_EQ(tick_label(-250'000), "-250,000");
}

TEST(Plot, ALogarithmicScaleHoldsAllValuesAndIsNeverTooNarrow) {
  const Scale wide = log_scale(std::vector<double>{0.1, 30, 2}, 0, 1);
  EXPECT_LT(wide.low, 0.1);
  EXPECT_GT(wide.high, 30);
  const Scale narrow = log_scale(std::vector<double>{7}, 0, 1);
  EXPECT_GE(narrow.high / narrow.low, 4);
  EXPECT_NEAR(narrow.at(7), 0.5, 1e-9);
  EXPECT_TRUE(log_scale({}, 0, 1).low > 0);
}

}  // namespace
}  // namespace headway
