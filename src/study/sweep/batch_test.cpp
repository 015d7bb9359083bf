#include "study/sweep/batch.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "study/sweep/axes.hpp"
#include "study/sweep/sweep_for_test.hpp"

namespace headway {
namespace {

double sequences(const SweepRun& run) {
  return static_cast<double>(run.job.global_batch);
}

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
  const double fixed = 1, each = 1e-3, critical = 65.536;
  const SweepTools tools = tools_with(
      [&](const SweepRun& run) { return sequences(run) * 4096 / (fixed + each * sequences(run)); });
  SweepSeries series;
  for (const std::int64_t batch : {16, 256, 4096}) {
    SweepRun run = run_to_sweep();
    run.job.global_batch = batch;
    auto point = sweep_point({std::to_string(batch), 8, run}, tools);
    ASSERT_TRUE(point.ok());
    series.points.push_back(std::move(point).value());
  }
  const double base = 16;
  const SameLoss same = {
      .critical_batch = critical * 4096, .batch = base * 4096, .tokens = 1e9 * 4096};
  add_time_to_loss(series, same, tools);
  const auto seconds = [&](double batch) {
    const double least = 1e9 / (1 + base / critical);
    return least * (fixed / batch + fixed / critical + each + each * batch / critical);
  };
  for (const SweepPoint& point : series.points) {
    ASSERT_TRUE(point.to_loss.has_value());
    EXPECT_EQ(point.to_loss->best_batch, 256) << point.label;
    EXPECT_NEAR(point.to_loss->best_time.value() / seconds(256), 1, 1e-9);
    EXPECT_NEAR(point.to_loss->own_time.value() / seconds(sequences(point.run)), 1, 1e-9);
    EXPECT_GE(point.to_loss->time, point.to_loss->own_time);  // failures and checkpoints on top
  }
}

// Perfect weak scaling doubles tokens/s with every doubling and still comes to the loss no sooner
// once the batch is far above the critical one.
TEST(TimeToLoss, WeakScalingStopsPayingAboveTheCriticalBatch) {
  const SweepTools tools =
      tools_with([](const SweepRun& run) { return 1e4 * static_cast<double>(run.layout.ranks()); });
  std::vector<SweepCase> cases;
  for (const std::int64_t n : {8, 512, 1024}) {
    cases.push_back({std::to_string(n), static_cast<double>(n),
                     with_accelerators(run_to_sweep(), n, BatchRule::of_a_rank)});
  }
  SweepSeries series = sweep("", cases, tools);
  const double batch = 16 * 4096;
  add_time_to_loss(series, {.critical_batch = batch, .batch = batch, .tokens = 1e12}, tools);
  ASSERT_EQ(series.points.size(), 3U);
  const auto time = [&](std::size_t i) { return series.points[i].to_loss->own_time.value(); };
  // (1 + 64)/(1 + 1)/64 and (1 + 128)/(1 + 1)/128 of the first.
  EXPECT_NEAR(time(1) / time(0), 65.0 / 128, 1e-9);
  EXPECT_NEAR(time(2) / time(0), 129.0 / 256, 1e-9);
}

}  // namespace
}  // namespace headway
