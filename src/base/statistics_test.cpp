#include "base/statistics.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(Statistics, QuantilesAreLinearBetweenOrderStatistics) {
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(quantile({10, 0}, 0.9), 9);
  EXPECT_EQ(quantile({11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 0.9), 10);
  EXPECT_EQ(quantile({7}, 0.9), 7);
  EXPECT_EQ(quantile({}, 0.5), std::nullopt);
}

TEST(Statistics, MeanOfNothingIsNothing) {
  EXPECT_EQ(mean(std::vector<double>{1, 2, 6}), 3);
  EXPECT_EQ(mean({}), std::nullopt);
}

}  // namespace
}  // namespace headway
