#include "forecast/energy.hpp"

#include <gtest/gtest.h>

#include "cluster/load.hpp"

namespace headway {
namespace {

const PowerConstants& model() {
  return step_constants()->power;
}
const Cluster& h100() {
  static const Cluster known = load_cluster("dgx-h100").value();
  return known;
}

// What products sustain on it as a share of the peak.
double sustained(const Cluster& cluster) {
  return sustained_share(calibration_for(cluster).value().kernels, ProductFormat::bits_16);
}

// [FORECAST-6] arXiv 2411.13055: throughput -37.22 %, power -5.87 %, so tokens a joule
// 0.6278 / 0.9413 - 1 = -33.3 %. Utilisation of its 7B model at 128 GPUs: 41 %, its power some 658
// W.
TEST(Power, ATenthOfTheFallInThroughputIsSavedAsTheStudyMeasured) {
  const Accelerator& gpu = h100().accelerator;
  const double busy = 0.41 / sustained(h100());
  const Watts before = training_power(model(), gpu, busy);
  const Watts after = training_power(model(), gpu, busy * (1 - 0.3722));
  EXPECT_NEAR(before.value(), 658, 20);
  EXPECT_NEAR(after / before - 1, -0.0587, 0.003);
  EXPECT_NEAR((1 - 0.3722) / (after / before) - 1, -0.333, 0.003);
}

// A100 and V100 once drew their full rating at the utilisation of any good run.
TEST(Power, OfNoAcceleratorIsItsRatingBeforeItsProductsTakeAllOfTheStep) {
  for (const std::string& name : cluster_names()) {
    const Cluster cluster = load_cluster(name).value();
    const Accelerator& gpu = cluster.accelerator;
    EXPECT_LT(training_power(model(), gpu, 0.95), gpu.tdp) << name;
    EXPECT_NEAR(training_power(model(), gpu, 1).value(), gpu.tdp.value(), 1e-9) << name;
    EXPECT_EQ(training_power(model(), gpu, 1.2), training_power(model(), gpu, 1)) << name;
  }
}

// [FORECAST-6] At full rate it draws what it is set to, waiting no more: of 700 W above 70 W idle
// three quarters and more would be 540 W.
TEST(Power, OfABoardThatIsSetLowerIsNeverMore) {
  Accelerator gpu = h100().accelerator;
  for (const double watts : {650.0, 500.0, 350.0}) {
    gpu.board_power = Watts(watts);
    EXPECT_NEAR(training_power(model(), gpu, 1).value(), watts, 1e-9);
    EXPECT_LE(waiting_power(model(), gpu), gpu.board_power);
    EXPECT_LE(training_power(model(), gpu, 0.5), training_power(model(), h100().accelerator, 0.5));
  }
  gpu.board_power = gpu.tdp;
  for (const double busy : {0.0, 0.4, 1.0}) {
    EXPECT_NEAR(training_power(model(), gpu, busy).value(),
                training_power(model(), h100().accelerator, busy).value(), 1e-9);
  }
}

// arXiv 2304.01433, table 4: in production a TPU v4 draws 121 W at least, 170 W on the mean, 192 W
// at most.
TEST(Power, OfATpuV4IsAboutWhatItDrawsInProduction) {
  const Accelerator tpu = load_cluster("tpu-v4").value().accelerator;
  EXPECT_NEAR(waiting_power(model(), tpu).value(), 170, 6);
  EXPECT_LE(training_power(model(), tpu, 1).value(), 192);
}

// arXiv 2204.02311: 378.5 W a chip with all of its system, products at 57.8 % of the peak.
TEST(Power, OfPalmWithItsHostsIsWhatWasMeasured) {
  const Cluster tpu = load_cluster("tpu-v4").value();
  const Watts chip = training_power(model(), tpu.accelerator, 0.578 / sustained(tpu));
  EXPECT_NEAR((chip + host_power(model(), tpu)).value(), 378.5, 4);
}

TEST(Power, LiesBetweenIdleAndTheCapAndGrowsWithUse) {
  for (const std::string& name : cluster_names()) {
    const Accelerator gpu = load_cluster(name).value().accelerator;
    const Watts waiting = waiting_power(model(), gpu);
    EXPECT_LE(idle_power(gpu), waiting) << name;
    EXPECT_LE(waiting, training_power(model(), gpu, 0.3)) << name;
    EXPECT_LE(training_power(model(), gpu, 0.3), training_power(model(), gpu, 0.9)) << name;
    EXPECT_LE(training_power(model(), gpu, 1), gpu.tdp) << name;
  }
}

// Two accelerators of 100 W idle and 700 W at most for 3 s: half of what is between for being at
// work, the rest for products, which run a quarter of the time: 100 + 600 (0.5 + 0.5 · 0.25).
TEST(StepEnergy, IsIdlePowerThatOfWaitingAndThatOfTheProducts) {  // [FORECAST-6]
  Accelerator gpu;
  gpu.idle_power = Watts(100);
  gpu.tdp = Watts(700);
  gpu.peak[static_cast<int>(Precision::bf16)] = FlopsPerSecond(1e15);
  Job job;
  job.recipe = recipe_from("bf16");
  Calibration calibration;
  calibration.power = {.waiting = 0.5, .host = 1};
  calibration.kernels.of(ProductFormat::bits_16).ceiling = 0.8;
  calibration.kernels.sustained = 0.75;
  const StepWork work{Seconds(3), Flops(0.25 * 0.6 * 1e15 * 3 * 2), 2};
  EXPECT_NEAR(step_energy(work, job, calibration, gpu).value(), 2 * 3 * (100 + 600 * 0.625), 1e-6);
}

// arXiv 2506.14551: 76 % of the 10.2 kW that a node of 8 H100 is rated for.
TEST(Power, ANodeDrawsWhatWasMeasured) {
  const Watts one = training_power(model(), h100().accelerator, 0.41 / sustained(h100())) +
                    host_power(model(), h100());
  EXPECT_NEAR(8 * one.value(), 0.76 * 10'200, 100);
}

}  // namespace
}  // namespace headway
