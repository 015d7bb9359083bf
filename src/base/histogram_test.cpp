#include "base/histogram.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace headway {
namespace {

TEST(SizeHistogram, ABinHoldsASizeAndAllBelowItsDouble) {
  SizeHistogram histogram;
  histogram.add(1024_B);
  histogram.add(2047_B);
  histogram.add(2048_B, 3);
  const auto bins = histogram.bins();
  ASSERT_EQ(bins.size(), 2U);
  EXPECT_EQ(bins[0].from, 1024_B);
  EXPECT_EQ(bins[0].count, 2);
  EXPECT_EQ(bins[0].bytes, Bytes(1024 + 2047));
  EXPECT_EQ(bins[1].from, 2048_B);
  EXPECT_EQ(bins[1].count, 3);
  EXPECT_EQ(bins[1].bytes, Bytes(3 * 2048));
}

TEST(SizeHistogram, EmptyBinsStandBetweenUsedOnesOnly) {
  SizeHistogram histogram;
  EXPECT_TRUE(histogram.bins().empty());
  histogram.add(1_B);
  histogram.add(9_B);
  const auto bins = histogram.bins();
  ASSERT_EQ(bins.size(), 4U);  // 1, 2, 4, 8
  EXPECT_EQ(bins[1].count, 0);
  EXPECT_EQ(bins[3].from, 8_B);
}

TEST(SizeHistogram, TheMessagesBelowALimitAndThoseOfItAndAboveAreAll) {
  SizeHistogram histogram;
  for (int size = 1; size <= 5000; ++size) histogram.add(Bytes(size));
  EXPECT_EQ(histogram.below(1024_B).count, 1023);
  EXPECT_EQ(histogram.below(1024_B).bytes, Bytes(1023.0 * 1024 / 2));
  EXPECT_EQ(histogram.all().count, 5000);
}

TEST(SizeHistogram, MessagesWithoutContentAreApartAndHugeOnesStayInTheLastBin) {
  SizeHistogram histogram;
  histogram.add(0_B, 2);
  EXPECT_EQ(histogram.empty(), 2);
  EXPECT_EQ(histogram.all().count, 0);
  histogram.add(Bytes(std::numeric_limits<double>::max()));
  histogram.add(Bytes(0.5));
  EXPECT_EQ(histogram.bins().size(), 64U);
}

}  // namespace
}  // namespace headway
