#include "study/sweep/crossover.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "study/sweep/axes.hpp"
#include "study/sweep/choice.hpp"
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

// What both kinds come to on n accelerators, in tokens/s; 0: it cannot run there.
BothOn rates(double (*pure)(double), double (*split)(double)) {
  return [=](std::int64_t accelerators) -> std::optional<Crossover> {
    const double n = static_cast<double>(accelerators);
    if (!(pure(n) > 0 && split(n) > 0)) return std::nullopt;
    const RequestedRun run = run_to_sweep();
    return Crossover{accelerators, point_with(run, forecast_with(run, pure(n))),
                     point_with(run, forecast_with(run, split(n))), false};
  };
}

// Pure: 10,000 tokens/s each less what grows with the ranks; split over tp 4: 8,000 each.
// 10,000 / (1 + N/1000) = 8,000 at N = 250: the first multiple of 8 beyond is 256.
TEST(Crossover, IsWhereTheSlowlyFallingLayoutOvertakesTheFaster) {
  const BothOn both = rates([](double n) { return n * 10'000 / (1 + n / 1000); },
                            [](double n) { return n * 8000; });
  const auto found = crossover(8, 4096, 8, both);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->accelerators, 256);
  EXPECT_FALSE(found->at_once);
  EXPECT_FALSE(crossover(8, 128, 8, both).has_value());
}

TEST(Crossover, SaysWherePureDataParallelismIsBehindFromTheBeginning) {
  const auto found =
      crossover(16, 4096, 8, rates([](double n) { return n; }, [](double n) { return 2 * n; }));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->accelerators, 16);
  EXPECT_TRUE(found->at_once);
}

TEST(Crossover, BeginsWherePureDataParallelismFits) {
  const auto found = crossover(
      8, 4096, 8, rates([](double n) { return n >= 48 ? n : 0; }, [](double n) { return 2 * n; }));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->accelerators, 48);
  EXPECT_TRUE(found->at_once);
}

// Of predicted runs: the split layout is ahead there, and one unit before it was not; each rank has
// two sequences, as in the base run.
TEST(Crossover, OfPredictedRunsIsTheFirstUnitWhereASplitLayoutIsAhead) {
  const std::vector<Degrees> split = {{.tp = 2}, {.tp = 4}};
  SweepSettings settings = usual_settings();
  settings.layout = fastest_that_fits({.micro_batch = true, .recompute = true});
  const auto found = crossover(run_to_sweep(), 8, 4096, 8, split, settings);
  ASSERT_TRUE(found.has_value());
  ASSERT_FALSE(found->at_once);
  const auto best_of = [&](std::int64_t n, const std::vector<Degrees>& layouts) {
    const RequestedRun pure = with_accelerators(run_to_sweep(), n, BatchRule::of_a_rank).value();
    double best = 0;
    for (const Degrees& d : layouts) {
      const auto point = sweep_point({"", 0, with_degrees(pure, d)}, settings);
      if (point) best = std::max(best, point->forecast.tokens_per_second);
    }
    return best;
  };
  const std::int64_t n = found->accelerators;
  EXPECT_GT(best_of(n, split), best_of(n, {Degrees{}}));
  EXPECT_LE(best_of(n - 8, split), best_of(n - 8, {Degrees{}}));
  EXPECT_EQ(found->split.forecast.tokens_per_second, best_of(n, split));
  EXPECT_EQ(found->pure.run.job.global_batch, 2 * n);
  EXPECT_EQ(found->split.run.job.global_batch, 2 * n);
}

}  // namespace
}  // namespace headway
