#include "fit/own/shrink.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/document/document.hpp"
#include "fit/own/prior_for_test.hpp"

namespace headway {
namespace {

using testing::kPrior;

// [OWN-1] One run: w is that of others, 0.06, and chance reaches 6.314 · 0.06 = 0.379. Of 0.5 the
// share 1 - (0.379 / 0.5)² = 0.4259 is none, and b² / (b² + w²) = 0.0225 / 0.0261 of it is kept:
// 0.184, more than one run may move.
TEST(Shrink, OfOneRunIsStrong) {
  EXPECT_EQ(shrink(kPrior, std::array{0.3}).factor, 1);
  EXPECT_FALSE(shrink(kPrior, std::array{0.3}).agree);
  EXPECT_NEAR(std::log(shrink(kPrior, std::array{0.5}).factor), 0.1, 1e-12);
  OwnPrior free = kPrior;
  free.each = 1;
  const double agreed = 1 - std::pow(6.3138 * 0.06 / 0.5, 2);
  EXPECT_NEAR(std::log(shrink(free, std::array{0.5}).factor), 0.5 * agreed * 0.0225 / 0.0261, 1e-4);
}

TEST(Shrink, ComesToTheMeanOfManyRunsThatAgree) {
  const std::vector<double> many(1000, -0.3);
  EXPECT_NEAR(std::log(shrink(kPrior, many).factor), -0.3, 1e-3);
}

// Squares about the mean of 0.15, 0.2, 0.25: 0.005; w² = (0.0036 + 0.005) / 3 = 0.0028667, of the
// mean 0.00095556, whose root is 0.030912; 1 - (2.3534 · 0.030912 / 0.2)² = 0.86769.
TEST(Shrink, TakesWhatTheRunsAgreeOn) {  // [OWN-1] [OWN-2]
  const Shrunk three = shrink(kPrior, std::array{0.15, 0.2, 0.25});
  EXPECT_NEAR(three.within * three.within, 0.0028667, 1e-7);
  const double kept = 0.0225 / (0.0225 + 0.00095556), factor = 0.2 * 0.86769 * kept;
  EXPECT_NEAR(std::log(three.factor), factor, 1e-5);
  const double left = 0.0225 * (1 - kept) + 0.0028667 + (0.2 - factor) * (0.2 - factor);
  EXPECT_NEAR(three.interval, std::sqrt(left / (0.0225 + 0.0036)), 1e-4);
}

TEST(Shrink, IsTheSameOfShorterAndLongerTimes) {
  const Shrunk slow = shrink(kPrior, std::array{0.15, 0.2, 0.25});
  const Shrunk fast = shrink(kPrior, std::array{-0.15, -0.2, -0.25});
  EXPECT_NEAR(slow.factor * fast.factor, 1, 1e-12);
  EXPECT_EQ(slow.interval, fast.interval);
}

TEST(Shrink, OfRunsThatContradictEachOtherIsNoFactor) {
  const Shrunk apart = shrink(kPrior, std::array{0.5, -0.4, 0.1});
  EXPECT_FALSE(apart.agree);
  EXPECT_EQ(apart.factor, 1);
  EXPECT_EQ(apart.interval, 1);
}

TEST(Shrink, OfRunsAsPredictedNarrowsTheInterval) {
  const Shrunk as_predicted = shrink(kPrior, std::array{0.01, -0.02, 0.015});
  EXPECT_EQ(as_predicted.factor, 1);
  EXPECT_LT(as_predicted.interval, 0.5);
}

// If runs are as the formula supposes, the factor predicts a further run of the setup better than
// no factor does, and seldom is the worse one: drawn 20,000 times.
TEST(Shrink, PredictsAFurtherRunBetterThanNothing) {
  std::uint64_t state = 7;
  const auto uniform = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (static_cast<double>(state >> 11) + 0.5) / 9007199254740992.0;
  };
  const auto normal = [&] {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
  };
  double with = 0, without = 0, overshot = 0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    const double setup = 0.15 * normal();
    const auto run = [&] { return setup + 0.06 * normal(); };
    const std::array<double, 3> given = {run(), run(), run()};
    const double factor = std::log(shrink(kPrior, given).factor), next = run();
    with += std::pow(next - factor, 2);
    without += next * next;
    overshot += std::abs(setup - factor) > std::abs(setup) ? 1 : 0;
  }
  EXPECT_LT(with, 0.6 * without);
  EXPECT_LT(overshot, 0.05 * kDraws);
}

// [OWN-3] The density of the normal law in three dimensions with covariance b² + w² on the diagonal
// and b² beside it, by elimination.
TEST(Evidence, IsTheDensityOfTheNormalLaw) {
  const std::array<double, 3> r = {0.1, 0.25, -0.05};
  double a[3][4];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) a[i][j] = 0.0225 + (i == j ? 0.0036 : 0);
    a[i][3] = r[static_cast<std::size_t>(i)];
  }
  double log_determinant = 0, form = 0;
  for (int i = 0; i < 3; ++i) {
    log_determinant += std::log(a[i][i]);
    form += a[i][3] * a[i][3] / a[i][i];
    for (int k = i + 1; k < 3; ++k) {
      const double factor = a[k][i] / a[i][i];
      for (int j = i; j < 4; ++j) a[k][j] -= factor * a[i][j];
    }
  }
  EXPECT_NEAR(log_evidence(kPrior, r), -0.5 * (log_determinant + form), 1e-9);
}

TEST(Evidence, GrowsAsResidualsComeTogetherAndTo0) {
  const double apart = log_evidence(kPrior, std::array{0.1, 0.3, 0.5});
  const double together = log_evidence(kPrior, std::array{0.3, 0.3, 0.3});
  const double none = log_evidence(kPrior, std::array{0.0, 0.0, 0.0});
  EXPECT_LT(apart, together);
  EXPECT_LT(together, none);
}

TEST(OwnPrior, OfTheBinaryIsThereAndReadsWhatIsWritten) {
  ASSERT_TRUE(own_prior().ok()) << own_prior().problems().front().message;
  const std::string text = to_toml(kPrior, "2026-11-24");
  const auto again = own_prior_from(parse_toml(text, "own.toml").value());
  ASSERT_TRUE(again.ok()) << again.problems().front().message;
  EXPECT_EQ(again->between, kPrior.between);
  EXPECT_EQ(again->each, kPrior.each);
}

}  // namespace
}  // namespace headway
