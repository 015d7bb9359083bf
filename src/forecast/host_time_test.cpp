// What the host needs to issue, check and wait for, where it sets the pace.
#include <gtest/gtest.h>

#include "forecast/forecast.hpp"
#include "forecast/random_run_for_test.hpp"

namespace headway::testing {
namespace {

// [FORECAST-9] What graphs replay the host need not issue: all, or all but the routed experts.
TEST(Forecast, GraphsLiftTheHostsPace) {
  Case c = case_of("mixtral-8x7b", "dgx-h100");
  c.job.sequence = 256;
  c.job.global_batch = 8;
  c.layout.dp = c.layout.ep = 8;
  ASSERT_TRUE(c.legal());
  const auto host = [&](Graphs graphs) {
    c.job.graphs = graphs;
    return c.priced().parts.other.value();
  };
  const double none = host(Graphs::none), dense = host(Graphs::dense), step = host(Graphs::step);
  EXPECT_GT(none, 1.2 * dense);
  EXPECT_GT(dense, 2 * step);
  // Overhead of the step and straggling are left.
  const double overhead = c.calibration.of(c.job.framework).step_overhead.value();
  EXPECT_NEAR(step,
              overhead + c.calibration.shared.straggling * 1.4236 *  // slowest of eight
                             (c.priced().step_time.value() - step + overhead),
              1e-9);
}

// [FORECAST-9] A small model is bound by the host, which issues every kernel and call in turn.
TEST(Forecast, ASmallModelTakesAsLongAsTheHostNeedsToIssueIt) {
  Case c = case_of("gpt-neox-19m", "dgx-h100");
  c.job.framework = framework_from("deepspeed").value();
  c.job.sequence = 2048;
  c.job.global_batch = 16;
  c.layout.dp = 1;
  c.calibration.shared = {};
  ASSERT_TRUE(c.legal());
  const Step step = lower(c);
  double kernels = 0;
  for (std::size_t i = 0; i < step.blocks.size(); ++i) {
    for (const Op& op : only<Op>(step.blocks[i].items)) {
      kernels += static_cast<double>(step.stages[0].counts[i]) * op.kernels * 16;
    }
  }
  const double issued = kernels * c.calibration.of(c.job.framework).host_launch.value();
  const Forecast f = c.priced();
  EXPECT_GE(f.step_time.value(), issued);
  EXPECT_GT(f.parts.other.value(), 0);
  // A faster machine does not help past that.
  for (FlopsPerSecond& peak : c.cluster.accelerator.peak) peak *= 1000;
  c.cluster.accelerator.memory_bandwidth *= 1000;
  EXPECT_GE(c.priced().step_time.value(), issued);
}

TEST(Forecast, WhereTheHostSetsThePaceACallCostsItOneLaunch) {  // [FORECAST-9]
  Case c = case_of("gpt-neox-1.3b", "dgx-h100");
  c.job.framework = framework_from("deepspeed").value();
  c.job.sequence = 2048;
  c.job.global_batch = 4;
  c.layout.tp = 2;
  c.layout.dp = 1;
  c.layout.sequence_parallel = false;
  c.calibration.shared = {};
  FrameworkConstants& host = c.calibration.frameworks[static_cast<std::size_t>(c.job.framework)];
  host.host_launch = Seconds(0.01);  // far longer than any kernel
  host.host_call = Seconds(1e-3);
  ASSERT_TRUE(c.legal());
  const double before = c.priced().step_time.value();
  host.host_call = Seconds(3e-3);
  // 24 layers of two all-reduces each way, one of the embedding forward, one before the head
  // backward and three of its loss; two broadcasts of the batch; four micro-batches.
  EXPECT_NEAR(c.priced().step_time.value() - before, 4 * (24 * 4 + 1 + 1 + 3 + 2) * 2e-3, 1e-9);
}

// [FORECAST-9] Stages that the host paces: the last of four, with the head, receives an activation
// and sends a gradient for each micro-batch, a launch's and a call's time each. Without tensor or
// data parallelism nothing else is called in a block.
TEST(Forecast, WhereTheHostSetsThePaceAMessageBetweenStagesTakesItsTime) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.sequence = 2048;
  c.job.global_batch = 16;
  c.layout.pp = 4;
  c.calibration.shared = {};
  FrameworkConstants& host = c.calibration.frameworks[static_cast<std::size_t>(c.job.framework)];
  host.host_launch = Seconds(0.01);  // far longer than any kernel
  host.host_call = Seconds(1e-3);
  ASSERT_TRUE(c.legal());
  const Forecast before = c.priced();
  host.host_call = Seconds(3e-3);
  EXPECT_NEAR((c.priced().parts.other - before.parts.other).value(), 16 * 2 * 2e-3, 1e-9);
  c.job.graphs = Graphs::step;  // a replayed step issues nothing
  const double replayed = c.priced().step_time.value();
  host.host_call = Seconds(1);
  EXPECT_NEAR(c.priced().step_time.value(), replayed, 1e-9);
}

// The host runs ahead of a device that is busy for longer: the time of messages is not seen.
TEST(Forecast, WhereTheDeviceSetsThePaceMessagesCostNothing) {  // [FORECAST-9]
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.sequence = 4096;
  c.job.global_batch = 16;
  c.layout.pp = 4;
  FrameworkConstants& host = c.calibration.frameworks[static_cast<std::size_t>(c.job.framework)];
  host.host_launch = host.host_call = Seconds(1e-6);
  ASSERT_TRUE(c.legal());
  const double before = c.priced().step_time.value();
  host.host_call = Seconds(1e-3);
  EXPECT_NEAR(c.priced().step_time.value(), before, 1e-9);
}

// [FORECAST-16] Hosts that check set the pace: in llama-2-7b on tp 8 in one node a layer issues
// four checked calls forward and six backward, each 8 · near_check, beside what it needs to issue
// them.
TEST(Forecast, CheckedCollectivesTakeTheHostsTimeForEachRank) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.sequence = 2048;
  c.job.global_batch = 4;
  c.layout.tp = 8;
  c.layout.zero = 0;
  FrameworkConstants& constants = c.calibration.frameworks.front();
  ASSERT_EQ(c.job.framework, framework_from("megatron").value());
  constants.near_check = Seconds(1);  // so long that nothing else matters
  const double without = c.priced().step_time.value();
  c.job.checked_collectives = true;
  const double layers = 4 * 32 * (4 + 6) * 8;  // micro-batches, layers, calls, ranks
  const double seconds = c.priced().step_time.value() - without;
  EXPECT_GT(seconds, layers);
  // The ends and the step's own calls add at most thirty calls a micro-batch.
  EXPECT_LT(seconds, (layers + 4 * 30 * 8) * 1.01);
}

// [FORECAST-17] A stage between others sends twice for each of m micro-batches: 2·m waits in the
// transfers' part. With waits alone the second of four stages begins behind one of the first; down
// to the last and back are three more than the two that it has meanwhile itself, and so at the end:
// 3 waits in the bubble.
TEST(Forecast, BlockingTransfersWaitForTheHostEachTime) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.sequence = 2048;
  c.job.global_batch = 16;
  c.layout.pp = 4;
  c.calibration.shared.straggling = 0;
  FrameworkConstants& constants = c.calibration.frameworks.front();
  constants.transfer_wait = Seconds(100);
  const Forecast before = c.priced();
  c.job.blocking_transfers = true;
  const Forecast after = c.priced();
  EXPECT_NEAR((after.parts.pp - before.parts.pp).value(), 2 * 16 * 100, 1);
  EXPECT_NEAR((after.parts.bubble - before.parts.bubble).value(), 3 * 100, 1);
}

// Each piece of a weight that the host cuts out to gather it costs host_piece.
TEST(Forecast, PiecesOfGatheredWeightsTakeTheHostsTime) {
  Case c = case_of("llama-2-7b", "dgx-h100");
  c.job.framework = framework_from("nanotron").value();
  c.job.sequence = 2048;
  c.job.global_batch = 8;
  c.layout.dp = 8;
  c.layout.zero = 1;
  FrameworkConstants& constants = c.calibration.frameworks.at(3);
  ASSERT_EQ(framework_names()[3], "nanotron");
  const double before = c.priced().parts.optimizer.value();
  constants.host_piece += Seconds(1e-3);
  const double pieces = lower(c).stages.front().pieces;
  EXPECT_NEAR(c.priced().parts.optimizer.value() - before, pieces * 1e-3, 1e-9);
  EXPECT_GT(pieces, 1000);
}

}  // namespace
}  // namespace headway::testing
