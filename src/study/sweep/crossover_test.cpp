#include "study/sweep/crossover.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "study/sweep/sweep_for_test.hpp"

namespace headway {
namespace {

// [SCALE-25]
TEST(FirstWhere, FindsTheStepToOneUnit) {
  for (std::int64_t step = 8; step <= 4096; step += 24) {
    const auto found = first_where(8, 4096, 8, [&](std::int64_t n) { return n >= step; });
    ASSERT_TRUE(found.has_value()) << step;
    EXPECT_EQ(*found, (step + 7) / 8 * 8);
  }
}

TEST(FirstWhere, LooksAtTheEndAndFindsNothingBeyondIt) {
  const auto from = [](std::int64_t least) {
    return [least](std::int64_t n) { return n >= least; };
  };
  EXPECT_EQ(first_where(8, 100, 4, from(100)), 100);  // not a doubling of 8
  EXPECT_EQ(first_where(8, 100, 4, from(101)), std::nullopt);
  EXPECT_EQ(first_where(8, 100, 4, from(1)), 8);
}

TEST(FirstWhere, AsksNoMoreThanTwiceTheDoublings) {
  int asked = 0;
  const auto found = first_where(8, 65'536, 8, [&](std::int64_t n) {
    ++asked;
    return n >= 20'008;
  });
  EXPECT_EQ(found, 20'008);
  EXPECT_LE(asked, 26);  // 13 doublings and 11 halvings
}

// Pure: 10,000 tokens/s each less what grows with the ranks; split over tp 4: 8,000 each.
// 10,000 / (1 + N/1000) = 8,000 at N = 250: the first multiple of 8 beyond is 256.
TEST(Crossover, IsWhereTheSlowlyFallingLayoutOvertakesTheFaster) {
  const SweepTools tools = tools_with([](const SweepRun& run) {
    const double n = static_cast<double>(run.layout.ranks());
    if (run.layout.tp == 4) return n * 8000;
    if (run.layout.tp == 2) return n * 7000;
    return n * 10'000 / (1 + n / 1000);
  });
  const std::vector<Degrees> split = {{.tp = 2}, {.tp = 4}};
  const auto found = crossover(run_to_sweep(), 8, 4096, 8, split, tools);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->accelerators, 256);
  EXPECT_FALSE(found->at_once);
  EXPECT_EQ(found->split.run.layout.tp, 4);
  EXPECT_EQ(found->pure.run.layout.tp, 1);
  EXPECT_EQ(found->pure.run.job.global_batch, 512);  // two sequences each, as the base run
  EXPECT_EQ(found->split.run.job.global_batch, 512);
  EXPECT_FALSE(crossover(run_to_sweep(), 8, 128, 8, split, tools).has_value());
}

TEST(Crossover, SaysWherePureDataParallelismIsBehindFromTheBeginning) {
  const SweepTools tools = tools_with(
      [](const SweepRun& run) { return static_cast<double>(run.layout.ranks() * run.layout.tp); });
  const auto found = crossover(run_to_sweep(), 16, 4096, 8, {{.tp = 2}}, tools);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->accelerators, 16);
  EXPECT_TRUE(found->at_once);
}

TEST(Crossover, BeginsWherePureDataParallelismFits) {
  SweepTools tools = tools_with(
      [](const SweepRun& run) { return static_cast<double>(run.layout.ranks() * run.layout.tp); });
  tools.forecast = [rate = tools.forecast](const SweepRun& run) {
    auto made = rate(run);
    made.value().fits = run.layout.tp > 1 || run.layout.ranks() >= 48;
    return made;
  };
  const auto found = crossover(run_to_sweep(), 8, 4096, 8, {{.tp = 2}}, tools);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->accelerators, 48);
  EXPECT_TRUE(found->at_once);
}

}  // namespace
}  // namespace headway
