// Generators against numbers that were published with them.
#include "base/random/random.hpp"

#include <gtest/gtest.h>

#include "base/statistics.hpp"

namespace headway {
namespace {

// The reference implementation's first numbers from 1234567.
TEST(Random, SplitMixGivesThePublishedNumbers) {
  SplitMix numbers{1234567};
  for (const std::uint64_t expected :
       {6457827717110365317U, 3203168211198807973U, 9817491932198370423U, 4593380528125082431U,
        16408922859458223821U}) {
    EXPECT_EQ(numbers.next(), expected);
  }
}

// By hand: 1 becomes 1 ^ 2^13, then ^ 2^6, then ^ (that << 17).
TEST(Random, XorShiftDoesItsThreeShifts) {
  std::uint64_t expected = 1U ^ (1U << 13U);
  expected ^= 1U << 6U;
  expected ^= expected << 17U;
  EXPECT_EQ(XorShift{1}.next(), expected);
}

TEST(Random, NormalNumbersHaveMeanZeroAndDeviationOne) {
  SplitMix numbers{7};
  const auto uniform = [&] { return (static_cast<double>(numbers.next() >> 11U) + 1) * 0x1p-53; };
  std::vector<double> drawn, squares;
  for (int i = 0; i < 100'000; ++i) {
    const double u = uniform();
    drawn.push_back(normal_of(u, uniform()));
    squares.push_back(drawn.back() * drawn.back());
  }
  // Five standard errors: 1/sqrt(n), sqrt(2/n).
  EXPECT_NEAR(mean(drawn).value(), 0, 5 / std::sqrt(1e5));
  EXPECT_NEAR(mean(squares).value(), 1, 5 * std::sqrt(2 / 1e5));
}

}  // namespace
}  // namespace headway
