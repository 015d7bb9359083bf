#include "study/traffic/correlation.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace headway {
namespace {

const CommunicationStudy& studied() {
  static const CommunicationStudy made = communication_study().value();
  return made;
}

double correlation(const char* of, const char* with) {
  for (const StudyCorrelation& pair : correlations(studied())) {
    if (pair.of == of && pair.with == with) return pair.all.value_or(NAN);
  }
  return NAN;
}

// y = a x^k is a line in logarithms, rising or falling.
TEST(LogCorrelation, OfPowersIsOneOrMinusOne) {
  const std::vector<double> x = {1, 2, 8, 32}, square = {3, 12, 192, 3072},
                            inverse = {7, 3.5, 0.875, 0.21875};
  EXPECT_NEAR(*log_correlation(x, square), 1, 1e-12);
  EXPECT_NEAR(*log_correlation(x, inverse), -1, 1e-12);
}

// By hand: logarithms 0, 1, 2 and 0, 2, 1 (base e): deviations (-1, 0, 1) and (-1, 1, 0):
// 1 / sqrt(2 * 2).
TEST(LogCorrelation, IsPearsonsOfTheLogarithms) {
  const std::vector<double> x = {1, std::exp(1), std::exp(2)}, y = {1, std::exp(2), std::exp(1)};
  EXPECT_NEAR(*log_correlation(x, y), 0.5, 1e-12);
}

TEST(LogCorrelation, IsNothingWhereOneSideIsEqualNotAboveZeroOrTooShort) {
  const std::vector<double> x = {1, 2}, equal = {3, 3}, zero = {0, 1}, one = {1};
  EXPECT_FALSE(log_correlation(x, equal).has_value());
  EXPECT_FALSE(log_correlation(x, zero).has_value());
  EXPECT_FALSE(log_correlation(one, one).has_value());
  EXPECT_FALSE(log_correlation(x, one).has_value());
}

// The study's claim: sequence length, throughput and size hang together.
TEST(Correlations, LongerSequencesSendMoreAndRunFasterLargerModelsSendMoreAndRunSlower) {
  EXPECT_GT(correlation("sequence length", "bytes sent"), 0.2);
  EXPECT_GT(correlation("sequence length", "tokens/s"), 0.2);
  EXPECT_LT(correlation("sequence length", "exposed share"), -0.2);
  EXPECT_GT(correlation("model size", "bytes sent"), 0.8);
  EXPECT_LT(correlation("model size", "tokens/s"), -0.8);
  // Of one model its size is one number.
  for (const StudyCorrelation& pair : correlations(studied())) {
    for (const auto& value : pair.by_model) {
      EXPECT_EQ(value.has_value(), pair.of != "model size") << pair.of << " " << pair.with;
    }
  }
}

}  // namespace
}  // namespace headway
