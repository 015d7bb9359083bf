#include "fit/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headway {
namespace {

TEST(Statistics, SpearmanGivesTiesTheirMeanRank) {
  // Ranks of b: 1, 2, 3.5, 5, 3.5. Deviations from 3: (-2, -1, 0, 1, 2) and (-2, -1, .5, 2, .5):
  // the products sum to 8, the squares to 10 and 9.5.
  const std::vector<double> a = {1, 2, 3, 4, 5}, b = {5, 6, 7, 8, 7};
  EXPECT_NEAR(*spearman(a, b), 8 / std::sqrt(95.0), 1e-12);
}

TEST(Statistics, SpearmanSeesOrderOnly) {
  const std::vector<double> a = {1, 2, 3, 4}, up = {1, 10, 1000, 1001}, down = {9, 4, 3, -8};
  EXPECT_NEAR(*spearman(a, up), 1, 1e-12);
  EXPECT_NEAR(*spearman(a, down), -1, 1e-12);
  EXPECT_EQ(spearman(a, std::vector<double>{2, 2, 2, 2}), std::nullopt);
  EXPECT_EQ(spearman(a, std::vector<double>{1, 2}), std::nullopt);
}

TEST(Statistics, BalancedAccuracyWeighsBothKindsAlike) {
  // 9 of 10 that fit, 3 of 4 that do not: (0.9 + 0.75) / 2.
  const Confusion confusion{.fits_fits = 9, .fits_not = 1, .not_fits = 1, .not_not = 3};
  EXPECT_NEAR(*confusion.balanced_accuracy(), 0.825, 1e-12);
  EXPECT_EQ((Confusion{.fits_fits = 9}.balanced_accuracy()), std::nullopt);
}

}  // namespace
}  // namespace headway
