#include "study/lifetime/goodput.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "study/lifetime/goodput_simulation_for_test.hpp"
#include "study/lifetime/goodput_stragglers.hpp"

namespace headway {
namespace {

constexpr double kHour = 3600;

Reliability usual() {
  return {.mean_time_between = Seconds(3 * kHour),
          .checkpoint = Seconds(60),
          .hidden_write = Seconds(0),
          .restart = Seconds(600)};
}

struct Moments {
  double mean = 0, variance = 0;
};
Moments moments(const std::vector<double>& values) {
  const double n = static_cast<double>(values.size());
  Moments out;
  out.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  for (const double value : values) out.variance += (value - out.mean) * (value - out.mean) / n;
  return out;
}

// [SCALE-1] 16,384 accelerators of which each fails once in 50,677 hours: 419 failures in 54 days
// (arXiv 2407.21783 §3.3.4).
TEST(Goodput, FailuresOfManyAcceleratorsAddUp) {
  const Seconds between = mean_time_between(Seconds(50'677 * kHour), 16'384);
  EXPECT_NEAR(Seconds(54 * 24 * kHour) / between, 419, 0.01);
  EXPECT_EQ(mean_time_between(Seconds(0), 64).value(), 0);
}

TEST(Goodput, WithoutFailuresAndCheckpointsAllTimeTrains) {
  const RunTime run = run_time({}, Seconds(1e6), best_interval({}));
  EXPECT_EQ(run.goodput, 1);
  EXPECT_EQ(run.total().value(), 1e6);
  EXPECT_EQ(quantile_of(run, 0.9).value(), 1e6);
  Reliability no_failures = usual();
  no_failures.mean_time_between = Seconds(0);
  EXPECT_NEAR(run_time(no_failures, Seconds(1e6), Seconds(940)).goodput, 0.94, 1e-12);
}

// [SCALE-2] By the recursion it comes from, with the integrals done numerically:
// E = ∫₀^s t f dt + (1 - p) (…): after a failure at t, a restart and the segment must pass in one.
TEST(Goodput, TheMeanOfASegmentSolvesItsRecursion) {
  for (const double m : {1e3, 1e4, 1e6}) {
    Reliability r = usual();
    r.mean_time_between = Seconds(m);
    const double s = 1000 + 60, x = s + 600;
    // Y = time until x passes without failure: E[Y] = E[min(X, x)] + P(X < x) E[Y].
    const int steps = 200'000;
    const auto truncated_mean = [&](double limit) {  // E[min(X, limit)] = ∫₀^limit P(X > t) dt
      double sum = 0;
      for (int i = 0; i < steps; ++i) sum += std::exp(-(i + 0.5) * limit / steps / m);
      return sum * limit / steps;
    };
    const double y = truncated_mean(x) / std::exp(-x / m);
    const double expected = truncated_mean(s) + (1 - std::exp(-s / m)) * y;
    EXPECT_NEAR(segment(r, Seconds(1000)).mean.value(), expected, 1e-6 * expected) << m;
  }
}

// [SCALE-2], [SCALE-3]: 200,000 simulated segments; the mean of so many varies by σ/√n.
TEST(Goodput, MeanAndVarianceAgreeWithASimulation) {
  for (const double hours : {0.5, 3.0, 30.0}) {
    Reliability r = usual();
    r.mean_time_between = Seconds(hours * kHour);
    const int runs = 10'000, segments = 20;
    const Moments seen = moments(simulate(r, 1500, segments, runs, 7));
    const Segment each = segment(r, Seconds(1500));
    EXPECT_NEAR(seen.mean, segments * each.mean.value(), 4 * std::sqrt(seen.variance / runs));
    EXPECT_NEAR(seen.variance / (segments * each.variance), 1, 0.08) << hours;
  }
}

// A checkpoint whose write goes on beside training costs each failure its hidden part, too.
TEST(Goodput, AHiddenWriteCostsEachFailureItsLength) {
  Reliability r = usual();
  r.mean_time_between = Seconds(10 * kHour);
  r.checkpoint = Seconds(5);
  r.hidden_write = Seconds(300);
  const Moments seen = moments(simulate(r, 1500, 20, 20'000, 11));
  const double predicted = 20 * segment(r, Seconds(1500)).mean.value();
  // To first order of segment / time between failures = 0.04: of the 4 % overhead, a tenth.
  EXPECT_NEAR(seen.mean / predicted, 1, 0.004);
  r.hidden_write = Seconds(0);
  EXPECT_GT(seen.mean / (20 * segment(r, Seconds(1500)).mean.value()), 1.006);
}

TEST(Goodput, TinyRatesLoseNoDigits) {
  Reliability r = usual();
  r.mean_time_between = Seconds(1e12);
  // λ s small: variance → λ s (s²/3 + s R + R²) (one failure, X uniform: (X + R)² in the mean).
  const double s = 1060, lambda = 1e-12;
  const double expected = lambda * s * (s * s / 3 + s * 600 + 600.0 * 600.0);
  EXPECT_NEAR(segment(r, Seconds(1000)).variance / expected, 1, 1e-6);
}

// [SCALE-4] No interval nearby is better, and dE/E = 0 there.
TEST(Goodput, TheBestIntervalIsBest) {
  for (const double m : {100.0, 1e3, 1e4, 1e6, 1e9}) {
    Reliability r = usual();
    r.mean_time_between = Seconds(m);
    const double best = best_interval(r).value();
    const auto cost = [&](double interval) {
      return segment(r, Seconds(interval)).mean.value() / interval;
    };
    for (const double factor : {0.5, 0.9, 0.99, 1.01, 1.1, 2.0}) {
      EXPECT_GE(cost(best * factor), cost(best) * (1 - 1e-12)) << m << " " << factor;
    }
    // Lambert: x e^x form, (x - 1) e^x = -e^{-δ/M}.
    const double x = best / m;
    EXPECT_NEAR((x - 1) * std::exp(x), -std::exp(-60 / m), 1e-12);
  }
}

TEST(Goodput, TheBestIntervalTendsToYoungsAndIsNearDalys) {
  Reliability r = usual();
  r.checkpoint = Seconds(1e-3);
  r.mean_time_between = Seconds(1e5);
  EXPECT_NEAR(best_interval(r) / young_interval(r), 1, 1e-4);
  EXPECT_NEAR(young_interval(r).value(), std::sqrt(2 * 1e-3 * 1e5), 1e-9);
  r = usual();
  EXPECT_NEAR(best_interval(r) / daly_interval(r), 1, 1e-3);
  Reliability other = r;
  other.restart = Seconds(6000);
  EXPECT_EQ(best_interval(r).value(), best_interval(other).value());
}

TEST(Goodput, PartsSumToTheWholeAndGoodputFallsWithEachCost) {
  const Reliability r = usual();
  const RunTime run = run_time(r, Seconds(1e7), best_interval(r), 0.01);
  const double sum =
      (run.training + run.checkpoints + run.lost_work + run.restarts + run.waiting).value();
  EXPECT_NEAR(run.total().value(), sum, 1e-6);
  EXPECT_NEAR(run.total().value() * 0.99,
              1e7 / best_interval(r).value() * segment(r, best_interval(r)).mean.value(), 1);
  EXPECT_NEAR(run.waiting / run.total(), 0.01, 1e-12);
  EXPECT_NEAR(run.goodput, 1e7 / run.total().value(), 1e-12);
  // Failures come once in three hours of the time that nodes are at work.
  EXPECT_NEAR(run.failures, 0.99 * run.total().value() / (3 * kHour), 1e-3);
  for (const auto worse : {&Reliability::checkpoint, &Reliability::restart}) {
    Reliability more = r;
    more.*worse = more.*worse * 2;
    EXPECT_LT(run_time(more, Seconds(1e7), best_interval(more)).goodput,
              run_time(r, Seconds(1e7), best_interval(r)).goodput);
  }
}

// Restarts: each of the failures costs at most the restart, and lost work about half a segment.
TEST(Goodput, LostWorkIsHalfASegmentAFailure) {
  Reliability r = usual();
  r.mean_time_between = Seconds(100 * kHour);
  const RunTime run = run_time(r, Seconds(1e8), Seconds(940));
  EXPECT_NEAR(run.lost_work.value() / run.failures, 500, 5);
  EXPECT_NEAR(run.restarts.value() / run.failures, 600, 2);
}

// [SCALE-5]
TEST(Goodput, QuantilesAgreeWithASimulation) {
  // 87, 9, 0.9 and 0.09 failures in a run.
  for (const double hours : {1.0, 10.0, 100.0, 1000.0}) {
    Reliability r = usual();
    r.mean_time_between = Seconds(hours * kHour);
    const int segments = 200;
    const RunTime run = run_time(r, Seconds(segments * 1500.0), Seconds(1500));
    std::vector<double> seen = simulate(r, 1500, segments, 10'000, 3);
    std::sort(seen.begin(), seen.end());
    for (const double q : {0.1, 0.5, 0.9}) {
      const double simulated = seen[static_cast<std::size_t>(q * 10'000)];
      const double spread = std::sqrt(run.variance);
      EXPECT_NEAR(quantile_of(run, q).value(), simulated, 0.12 * spread) << hours << " " << q;
    }
  }
}

TEST(Goodput, ASegmentLongerThanFailuresAllowIsHopeless) {
  Reliability r = usual();
  EXPECT_FALSE(is_hopeless(r, Seconds(3 * kHour)));
  r.mean_time_between = Seconds(10);
  EXPECT_TRUE(is_hopeless(r, Seconds(1)));
  EXPECT_FALSE(is_hopeless({}, Seconds(1e9)));
}

// [SCALE-6] One node fails in 10 h and is repaired in 10 h (ρ = 1): without spares the run stands
// still half of the time; with one, states 0, 1, 2 have weights 1, 1, 1/2.
TEST(Goodput, SparesKeepTheRunFromWaiting) {
  const Seconds ten(10 * kHour);
  EXPECT_NEAR(waiting_share(ten, ten, 0), 0.5, 1e-12);
  EXPECT_NEAR(waiting_share(ten, ten, 1), 0.5 / 2.5, 1e-12);
  EXPECT_EQ(waiting_share(Seconds(0), ten, 0), 0);
}

TEST(Goodput, NoOtherNumberOfSparesCostsLess) {
  EXPECT_EQ(cheapest_spares(Seconds(0), Seconds(kHour), 100), 0);
  // A day of repair for one node that fails in a year or so: no second node beside it.
  EXPECT_EQ(cheapest_spares(Seconds(9000 * kHour), Seconds(24 * kHour), 1), 0);
  for (const std::int64_t nodes : {128, 2048, 100'000}) {
    const Seconds repair(24 * kHour), failing(3000 * kHour / static_cast<double>(nodes));
    const auto cost = [&](std::int64_t spares) {
      return static_cast<double>(nodes + spares) / (1 - waiting_share(failing, repair, spares));
    };
    const std::int64_t best = cheapest_spares(failing, repair, nodes);
    EXPECT_GE(best, 1);
    for (std::int64_t spares = 0; spares < 2 * best + 10; ++spares) {
      EXPECT_GE(cost(spares), cost(best) * (1 - 1e-12)) << nodes << " " << spares;
    }
  }
}

TEST(Goodput, NormalQuantilesInvertTheDistribution) {
  for (const double q : {0.001, 0.01, 0.1, 0.5, 0.8, 0.99, 0.999}) {
    EXPECT_NEAR(0.5 * std::erfc(-normal_quantile(q) / std::sqrt(2.0)), q, 1e-12);
  }
}

// [SCALE-7] Closed forms for small samples (order statistics of the normal distribution): 0,
// 1/√π, 3/(2√π).
TEST(Stragglers, TheExpectedMaximumHasItsClosedFormsForFewDraws) {
  const double pi = std::acos(-1.0);
  EXPECT_NEAR(expected_normal_maximum(1), 0, 1e-9);
  EXPECT_NEAR(expected_normal_maximum(2), 1 / std::sqrt(pi), 1e-9);
  EXPECT_NEAR(expected_normal_maximum(3), 1.5 / std::sqrt(pi), 1e-9);
  // Blom's estimate for many draws: within 1 %.
  const double n = 16'384;
  EXPECT_NEAR(expected_normal_maximum(16'384) / normal_quantile((n - 0.375) / (n + 0.25)), 1, 0.01);
}

// [SCALE-8] Of {1, 2, 3}, two draws: the largest is 1, 2, 3 with 1/9, 3/9, 5/9.
TEST(Stragglers, TheMaximumOfAMeasuredSampleIsWeighedExactly) {
  const double sample[] = {3, 1, 2};
  EXPECT_NEAR(expected_sample_maximum(sample, 1), 1, 1e-12);
  EXPECT_NEAR(expected_sample_maximum(sample, 2), (1 + 6 + 15) / 9.0 / 2, 1e-12);
  EXPECT_NEAR(expected_sample_maximum(sample, 1'000'000), 1.5, 1e-12);
  EXPECT_EQ(expected_sample_maximum({}, 8), 1);
}

}  // namespace
}  // namespace headway
