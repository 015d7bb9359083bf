#include "fit/minimise.hpp"

#include <gtest/gtest.h>

namespace headway {
namespace {

// (x - 1)^2 + 10 (y + 2)^2: least at (1, -2).
double bowl(std::span<const double> x, double* gradient) {
  if (gradient != nullptr) {
    gradient[0] = 2 * (x[0] - 1);
    gradient[1] = 20 * (x[1] + 2);
  }
  return (x[0] - 1) * (x[0] - 1) + 10 * (x[1] + 2) * (x[1] + 2);
}

TEST(Minimise, FindsTheBottomOfABowlByEitherSearch) {
  for (const SearchBy by : {SearchBy::subplex, SearchBy::quadratic_programs}) {
    const Minimum found = minimise({by, {4, 4}, {-5, -5}, {5, 5}, {}, 1e-12, 1e-9, 2000}, bowl);
    EXPECT_TRUE(found.found);
    EXPECT_NEAR(found.at[0], 1, 1e-4);
    EXPECT_NEAR(found.at[1], -2, 1e-4);
    EXPECT_NEAR(found.value, 0, 1e-7);
  }
}

TEST(Minimise, StaysWithinItsBounds) {
  for (const SearchBy by : {SearchBy::subplex, SearchBy::quadratic_programs}) {
    const Minimum found = minimise({by, {4, 4}, {2, -1}, {5, 5}, {}, 1e-12, 1e-9, 2000}, bowl);
    EXPECT_NEAR(found.at[0], 2, 1e-6);
    EXPECT_NEAR(found.at[1], -1, 1e-6);
  }
}

TEST(Minimise, AsksForNoMoreValuesThanAllowed) {
  int asked = 0;
  const auto counted = [&](std::span<const double> x, double* gradient) {
    ++asked;
    return bowl(x, gradient);
  };
  minimise({SearchBy::subplex, {4, 4}, {-5, -5}, {5, 5}, {}, 0, 1e-15, 30}, counted);
  EXPECT_LE(asked, 30);
  EXPECT_GT(asked, 10);
}

}  // namespace
}  // namespace headway
