#include "study/sweep/batch.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "study/sweep/axes.hpp"
#include "study/sweep/sweep_for_test.hpp"

namespace headway {
namespace {

// [SCALE-24] At the critical batch a batch twice as large takes (1 + 2)/(1 + 1) times the tokens,
// half of it (1 + 1/2)/(1 + 1); far below it any batch takes the same.
TEST(SameLoss, TokensGrowWithTheBatchAboveTheCriticalOne) {
  const SameLoss same = {.critical_batch = 1e6, .batch = 1e6, .tokens = 1e12};
  EXPECT_NEAR(same.tokens_with(2e6), 1.5e12, 1);
  EXPECT_NEAR(same.tokens_with(0.5e6), 0.75e12, 1);
  EXPECT_NEAR(same.tokens_with(1e6), 1e12, 1);
  const SameLoss easy = {.critical_batch = 1e15, .batch = 1e6, .tokens = 1e12};
  EXPECT_NEAR(easy.tokens_with(64e6), 1e12, 1e5);
}

// A step of B sequences takes a + b·B (a: what does not depend on the batch). To a loss of
// E(1 + B/C) sequences that is E(1 + B/C)(a + bB)/B = E(a/B + a/C + b + bB/C), least at
// B = √(aC/b). With a = 1 s, b = 1 ms and C = 65.536 sequences: 256.
TEST(TimeToLoss, TheBestBatchIsTheRootOfFixedTimeTimesCriticalBatch) {
  const double fixed = 1, each = 1e-3, critical = 65.536, base = 16;
  const auto rate = [&](std::int64_t batch) {
    const double sequences = static_cast<double>(batch);
    return sequences * 4096 / (fixed + each * sequences);
  };
  const SameLoss same = {
      .critical_batch = critical * 4096, .batch = base * 4096, .tokens = 1e9 * 4096};
  const auto seconds = [&](double batch) {
    const double least = 1e9 / (1 + base / critical);
    return least * (fixed / batch + fixed / critical + each + each * batch / critical);
  };
  for (const std::int64_t own : {16, 256, 4096}) {
    RequestedRun run = run_to_sweep();
    run.job.global_batch = own;
    std::vector<TriedBatch> others;
    for (const std::int64_t batch : batches_beside(own)) others.push_back({batch, rate(batch)});
    const TimeToLoss found = time_to_loss(point_with(run, forecast_with(run, rate(own))), others,
                                          same, usual_assumptions(run), usual_settings().power);
    EXPECT_EQ(found.best_batch, 256) << own;
    EXPECT_NEAR(found.best_time.value() / seconds(256), 1, 1e-9);
    EXPECT_NEAR(found.own_time.value() / seconds(static_cast<double>(own)), 1, 1e-9);
    EXPECT_GE(found.time, found.own_time);  // failures and checkpoints on top
  }
}

// Perfect weak scaling doubles tokens/s with every doubling and still comes to the loss no sooner
// once the batch is far above the critical one.
TEST(TimeToLoss, WeakScalingStopsPayingAboveTheCriticalBatch) {
  const double batch = 16 * 4096;
  const SameLoss same = {.critical_batch = batch, .batch = batch, .tokens = 1e12};
  std::vector<double> seconds;
  for (const std::int64_t n : {8, 512, 1024}) {
    const RequestedRun run = with_accelerators(run_to_sweep(), n, BatchRule::of_a_rank).value();
    const SweepPoint point = point_with(run, forecast_with(run, 1e4 * static_cast<double>(n)));
    seconds.push_back(time_to_loss(point, {}, same, usual_assumptions(run), usual_settings().power)
                          .own_time.value());
  }
  // (1 + 64)/(1 + 1)/64 and (1 + 128)/(1 + 1)/128 of the first.
  EXPECT_NEAR(seconds[1] / seconds[0], 65.0 / 128, 1e-9);
  EXPECT_NEAR(seconds[2] / seconds[0], 129.0 / 256, 1e-9);
}

TEST(TimeToLoss, BatchesThatAreTriedAreWholePowersOfTwoTimesTheOwn) {
  EXPECT_EQ(batches_beside(12), (std::vector<std::int64_t>{3, 6, 24, 48, 96, 192, 384, 768}));
}

// Of predicted batches the best is no later than the own, and is one of those that can be run.
TEST(TimeToLoss, OfASeriesIsFoundForEachPoint) {
  SweepSeries series = sweep("", {{"8", 8, run_to_sweep()}}, usual_settings());
  ASSERT_EQ(series.points.size(), 1U);
  add_time_to_loss(series, {.critical_batch = 4e6, .batch = 16 * 4096, .tokens = 1e12},
                   usual_settings());
  const SweepPoint& point = series.points.front();
  ASSERT_TRUE(point.to_loss.has_value());
  EXPECT_LT(point.to_loss->best_time, point.to_loss->own_time);  // far below the critical batch
  EXPECT_GT(point.to_loss->best_batch, point.run.job.global_batch);
  EXPECT_EQ(point.to_loss->best_batch % point.run.job.global_batch, 0);
}

}  // namespace
}  // namespace headway
