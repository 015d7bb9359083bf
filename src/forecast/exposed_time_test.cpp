// How much of communication is exposed, and what hides the rest.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "forecast/forecast.hpp"
#include "forecast/random_run_for_test.hpp"

namespace headway::testing {
namespace {

// Rounding in sums of some hundred terms.
bool no_longer(double a, double b) {
  return a <= b * (1 + 1e-12);
}

// Nothing runs before the first gather and after the last reduction [FORECAST-5].
RC_GTEST_PROP(Forecast, Zero3ExposesAtLeastTheFirstGatherAndTheLastReduction, ()) {
  Case c = random_case();
  c.layout.zero = 3;
  c.layout.overlap_gradients = c.layout.overlap_parameters = Choice::on;
  RC_PRE(c.legal());
  const Forecast f = c.priced();
  Seconds gather(0), reduce(0);
  for (const PricedCall& call : f.calls) {
    if (call.call.hidden_by != HiddenBy::next_block) continue;
    Seconds& longest = call.call.op == CollectiveOp::all_gather ? gather : reduce;
    longest = std::max(longest, call.each);
  }
  RC_ASSERT(no_longer((gather + reduce).value(), f.parts.dp.value()));
}

// [FORECAST-5] The last stage, which the head makes the slowest, reduces in one call; it has the
// backward pass of the first stage to do so.
TEST(Forecast, TheOneBucketOfALaterStageMayBeHidden) {
  Case c = case_of("llama-3-8b", "dgx-h100");
  c.job.sequence = 8192;
  c.job.global_batch = 64;
  c.layout = {{}, {.pp = 2}, {.dp = 4, .zero = 1}};
  ASSERT_TRUE(c.legal());
  const Forecast f = c.priced();
  const auto gradients = std::find_if(f.calls.begin(), f.calls.end(), [](const PricedCall& call) {
    return call.call.phase == Phase::gradient && call.call.group == Group::dp;
  });
  ASSERT_NE(gradients, f.calls.end());
  EXPECT_EQ(gradients->call.count, 1);
  EXPECT_LT(gradients->exposed, gradients->each * 0.5);
}

// [STEP-27] Where eight accelerators share one link of 100 Gb/s each part of ZeRO++ saves time;
// within a node of fast links there is nothing to save.
TEST(Forecast, ZeroPlusPlusSavesTimeWhereTheNetworkIsSlow) {
  Case c = case_of("llama-2-7b", "a100-pcie-8");
  c.job.framework = framework_from("deepspeed").value();
  c.job.sequence = 2048;
  c.job.global_batch = 64;
  c.layout = {{}, {}, {.dp = 64, .zero = 3}};
  c.cluster.levels[1].bandwidth = BytesPerSecond(12.5e9 / 8);
  ASSERT_TRUE(c.legal());
  Seconds before = c.priced().step_time;
  const auto saves = [&](const char* what) {
    ASSERT_TRUE(c.legal()) << what;
    const Seconds now = c.priced().step_time;
    EXPECT_LT(now.value(), 0.95 * before.value()) << what;
    before = now;
  };
  c.layout.secondary = 8;
  saves("secondary");
  c.job.quantized_weights = true;
  saves("weights");
  c.job.quantized_gradients = true;
  saves("gradients");
}

// [FORECAST-5] [STEP-18] In one bucket everything is exposed, as nothing runs beside its reduction;
// in smaller ones all but the last, as long as the backward pass lasts; with very many of them
// their latencies add up to more than it hides.
TEST(Forecast, OfLargerBucketsMoreIsExposedAndOfTinyOnesLatency) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.framework = framework_from("deepspeed").value();
  c.job.sequence = 4096;
  c.job.global_batch = 32;
  c.layout = {{}, {}, {.dp = 32, .zero = 1}};
  ASSERT_TRUE(c.legal());
  const auto gradients = [&](double size) {
    c.job.bucket_size = Bytes(size);
    Seconds each(0), exposed(0);
    double count = 0;
    for (const PricedCall& call : c.priced().calls) {
      if (call.call.phase != Phase::gradient || call.call.group != Group::dp) continue;
      each += call.each * call.call.count;
      exposed += call.exposed;
      count += call.call.count;
    }
    return std::tuple(count, each, exposed);
  };
  const auto [one, whole, all] = gradients(64e9);
  EXPECT_EQ(one, 1);
  EXPECT_DOUBLE_EQ(all.value(), whole.value());
  double before = all.value(), sum = whole.value();
  for (const double size : {4e9, 1e9, 3e8}) {
    const auto [count, time, exposed] = gradients(size);
    EXPECT_GT(count, 1);
    EXPECT_LT(exposed.value(), before) << size;
    EXPECT_GT(time.value(), sum) << size;  // latency of each call
    before = exposed.value(), sum = time.value();
  }
}

// [FORECAST-5] Not overlapped, all of it is exposed; overlapped, no more than that, and on the
// first stage at least one bucket of the reduction. DeepSpeed's buckets are the same either way.
RC_GTEST_PROP(Forecast, OverlappedGradientsExposeAtLeastTheLastBucket, ()) {
  Case c = random_case();
  c.job.framework = framework_from("deepspeed").value();
  c.layout.zero = 1;
  RC_PRE(c.legal());
  c.layout.overlap_gradients = c.layout.overlap_parameters = Choice::off;
  const Forecast all = c.priced();
  double sum = 0, bucket = std::numeric_limits<double>::infinity();
  for (const PricedCall& call : all.calls) {
    const Group group = call.call.group;
    if (group == Group::tp || group == Group::cp || group == Group::ep || group == Group::pp) {
      continue;
    }
    sum += call.each.value() * call.call.count;
    if (call.call.phase == Phase::gradient && group == Group::dp && c.layout.pp == 1) {
      bucket = std::min(bucket, call.each.value());
    }
  }
  if (std::isinf(bucket)) bucket = 0;
  RC_ASSERT(std::abs(all.parts.dp.value() - sum) <= 1e-9 * sum);
  c.layout.overlap_gradients = c.layout.overlap_parameters = Choice::on;
  const Forecast hidden = c.priced();
  RC_ASSERT(no_longer(hidden.parts.dp.value(), all.parts.dp.value()));
  RC_ASSERT(no_longer(bucket, hidden.parts.dp.value()));
  RC_ASSERT(no_longer(hidden.step_time.value(), all.step_time.value()));
}

// [FORECAST-5] Where reductions take longer than the last micro-batch's backward pass, all of it
// hides them but what already hides the transfers of its two chunks.
TEST(Forecast, WhatHidesTransfersHidesNoReduction) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.sequence = 4096;
  c.job.global_batch = 8;
  c.layout = {{.tp = 8}, {.pp = 2, .vpp = 2}, {.dp = 2, .zero = 1}};
  c.layout.overlap_gradients = Choice::on;
  c.layout.overlap_parameters = Choice::off;
  c.cluster.levels[1].bandwidth *= 0.02;
  c.cluster.levels[1].port_bandwidth *= 0.02;
  ASSERT_TRUE(c.legal());
  const Forecast f = c.priced();
  const StageTime& pace = f.pipeline.stages[f.pipeline.pace];
  double all = 0, exposed = 0;
  for (const PricedCall& call : f.calls) {
    if (call.call.hidden_by != HiddenBy::backward) continue;
    all += call.each.value() * call.call.count;
    exposed += call.exposed.value();
  }
  const double chunk = 0.5 * pace.total().value() / 2;
  const double transfers = 2 * std::min(f.pipeline.send.value(), chunk);
  ASSERT_GT(all, pace.backward.value());
  EXPECT_GT(transfers, 0.01 * pace.backward.value());
  EXPECT_NEAR(all - exposed, pace.backward.value() - transfers, 1e-9 * all);
}

// [FORECAST-7] Gradients down, weights up, and the update in the host's memory, all at the link.
TEST(Forecast, AnOffloadedUpdateTakesAsLongAsItsLink) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.sequence = 4096;
  c.job.global_batch = 8;
  c.layout.dp = 8;
  c.layout.zero = 1;
  c.layout.offload_optimizer = true;
  ASSERT_TRUE(c.legal());
  const Forecast f = c.priced();
  const double parameters = f.memory.parameters.value() / 2;  // 16 bit
  const double states = 12 * parameters / 8;
  EXPECT_NEAR(f.parts.optimizer.value() * c.cluster.accelerator.host_bandwidth.value(),
              2 * f.memory.gradients.value() + f.memory.parameters.value() + 2 * states,
              1e-6 * states);
}

// [FORECAST-8] Split products leave the first of tp pieces of a call exposed, at least.
TEST(Forecast, SplitProductsHideAllButTheFirstPieceOfATensorCall) {
  Case c = case_of("llama-3-70b", "dgx-h100");
  c.job.sequence = 8192;
  c.job.global_batch = 1;
  c.layout.tp = 8;
  ASSERT_TRUE(c.legal());
  c.layout.overlap_tensor = Choice::off;
  const double whole = c.priced().parts.tp.value();
  c.layout.overlap_tensor = Choice::on;
  const double split = c.priced().parts.tp.value();
  EXPECT_LT(split, 0.5 * whole);
  EXPECT_GE(split, whole / 8 * (1 - 1e-9));
}

// [FORECAST-8] Another micro-batch's work hides the exchange of tokens, at the price of its share
// of the compute units.
TEST(Forecast, OverlappedExchangesOfTokensAreHiddenByComputation) {
  Case c = case_of("mixtral-8x7b", "dgx-h100");
  c.job.sequence = 4096;
  c.job.global_batch = 64;
  c.job.graphs = Graphs::step;
  c.layout.dp = c.layout.ep = 8;
  ASSERT_TRUE(c.legal());
  const Forecast apart = c.priced();
  c.layout.overlap_experts = Choice::on;
  const Forecast together = c.priced();
  EXPECT_GT(apart.parts.ep.value(), 0);
  EXPECT_EQ(together.parts.ep.value(), 0);
  EXPECT_NEAR(together.parts.compute.value() - apart.parts.compute.value(),
              c.calibration.shared.interference * apart.parts.ep.value(),
              1e-6 * apart.parts.compute.value());
}

}  // namespace
}  // namespace headway::testing
