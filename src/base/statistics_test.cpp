#include "base/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

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

// Of two values 1/√π, of three 3/(2·√π) in closed form; of 8, 1,024 and 16,384 by numerical
// integration elsewhere.
TEST(Statistics, TheLargestOfMoreNormalValuesLiesHigher) {
  EXPECT_EQ(expected_maximum(0), 0);
  EXPECT_EQ(expected_maximum(1), 0);
  EXPECT_NEAR(expected_maximum(2), 1 / std::sqrt(std::numbers::pi), 1e-4);
  EXPECT_NEAR(expected_maximum(3), 1.5 / std::sqrt(std::numbers::pi), 0.015);
  EXPECT_NEAR(expected_maximum(8), 1.4236, 1e-4);
  EXPECT_NEAR(expected_maximum(1024), 3.2482, 1e-4);
  EXPECT_NEAR(expected_maximum(16384), 3.9714, 1e-4);
  EXPECT_NEAR(expected_maximum(3000), 3.540, 0.02);
  for (double n = 1; n < 1e8; n *= 1.5) {
    EXPECT_GT(expected_maximum(1.5 * n), expected_maximum(n)) << n;
  }
}

// Tables of Student's law, two-sided 90 % and 95 %.
TEST(StudentBound, IsThatOfTheTables) {
  EXPECT_NEAR(student_bound(0.9, 1), 6.314, 1e-3);
  EXPECT_NEAR(student_bound(0.9, 2), 2.920, 1e-3);
  EXPECT_NEAR(student_bound(0.9, 3), 2.353, 1e-3);
  EXPECT_NEAR(student_bound(0.95, 4), 2.776, 1e-3);
  EXPECT_NEAR(student_bound(0.95, 5), 2.571, 1e-3);
  EXPECT_NEAR(student_bound(0.9, 10), 1.812, 1e-3);
  EXPECT_NEAR(student_bound(0.95, 1000), 1.962, 1e-3);
  EXPECT_EQ(student_bound(0, 3), 0);
}

}  // namespace
}  // namespace headway
