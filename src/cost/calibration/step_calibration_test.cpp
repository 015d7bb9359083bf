#include <gtest/gtest.h>

#include <cmath>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"

namespace headway {
namespace {

constexpr const char* kEstimates = R"(
[shared]
interference = 0.2
straggling = 0.001
maturing = 0.5
[power]
waiting = 0.7
host = 0.5
kind = "estimated"
source = "a test"
host_source = "a test"
date = "2026"
[framework.default]
host_launch = "50 us"
step_overhead = "2 ms"
context = "2 GiB"
[framework.fsdp]
host_launch = "30 us"
[architecture.default]
sustained = 0.9
[architecture.blackwell]
immaturity = 0.4
[network.default]
[network.ib-ndr]
in_step = 0.8
[appeared]
source = "a test"
blackwell = 2025.0
[benchmarked_power]
source = "a test"
)";

Document step_document(const char* text) {
  const auto parsed = parse_toml(text, "step.toml");
  EXPECT_TRUE(parsed.ok());
  return parsed.ok() ? *parsed : Document{};
}

StepConstants constants() {
  return step_constants_from(step_document(kEstimates), nullptr).value();
}

TEST(StepConstants, AnEntryTakesFromItsSectionsDefaultWhatItDoesNotState) {
  const StepConstants c = constants();
  const auto& fsdp = c.framework("fsdp");
  const auto& jax = c.framework("jax");
  EXPECT_DOUBLE_EQ(fsdp.host_launch.value(), 30e-6);
  EXPECT_DOUBLE_EQ(fsdp.step_overhead.value(), 2e-3);
  EXPECT_DOUBLE_EQ(jax.host_launch.value(), 50e-6);
  EXPECT_DOUBLE_EQ(c.architecture("blackwell").sustained, 0.9);
  EXPECT_DOUBLE_EQ(c.architecture("unheard-of").immaturity, 0);
  EXPECT_DOUBLE_EQ(c.network("ib-ndr").in_step, 0.8);
  EXPECT_DOUBLE_EQ(c.network("unheard-of").in_step, 1);
}

TEST(StepConstants, AFitOverlaysTheEstimatesFieldByField) {
  const Document fit = step_document("[framework.default]\nhost_launch = \"60 us\"\n");
  const StepConstants c = step_constants_from(step_document(kEstimates), &fit).value();
  const auto& fsdp = c.framework("fsdp");
  const auto& jax = c.framework("jax");
  EXPECT_DOUBLE_EQ(jax.host_launch.value(), 60e-6);
  EXPECT_DOUBLE_EQ(fsdp.host_launch.value(), 30e-6);
  EXPECT_DOUBLE_EQ(jax.step_overhead.value(), 2e-3);
}

TEST(StepConstants, EveryProblemIsReportedWithItsLine) {
  const Document fit = step_document(
      "[framework.jax]\nhost_launch = \"1 s\"\nhost_lunch = \"1 us\"\n"
      "[architecture.volta]\nsustained = 2.5\n[shared]\nstraggling = \"much\"\n");
  const auto c = step_constants_from(step_document(kEstimates), &fit);
  ASSERT_FALSE(c.ok());
  EXPECT_EQ(c.problems().size(), 4u);
  for (const Problem& problem : c.problems()) {
    EXPECT_NE(where_text(problem).find("step.toml:"), std::string::npos) << where_text(problem);
  }
}

// [FORECAST-11] One e-folding after a generation appeared its software lacks 1/e of the immaturity.
TEST(InStep, SoftwareForANewArchitectureMatures) {
  Cluster cluster = load_cluster("dgx-b200").value();
  ASSERT_EQ(cluster.accelerator.architecture, "blackwell");
  const Benchmarked alone = benchmarked_for(cluster).value();
  const auto sustained = [&](double software) {
    return in_step(alone, constants(), cluster, software).kernels.sustained /
           alone.kernels.sustained;
  };
  EXPECT_NEAR(sustained(2025.0), 0.9 * 0.6, 1e-12);
  EXPECT_NEAR(sustained(2024.0), 0.9 * 0.6, 1e-12);  // no earlier than it appeared
  EXPECT_NEAR(sustained(2025.5), 0.9 * (1 - 0.4 / std::exp(1.0)), 1e-12);
  EXPECT_NEAR(sustained(0), 0.9, 1e-12);
}

// [FORECAST-12] A board of 1,200 W over a benchmarked one of 1,000 W, at the square root.
TEST(InStep, RatesGrowWithThePowerOfTheBoard) {
  StepConstants c = constants();
  c.architectures["blackwell"].power_exponent = 0.5;
  c.benchmarked_power["blackwell"] = Watts(1000);
  Cluster cluster = load_cluster("gb200-nvl72").value();
  ASSERT_EQ(cluster.accelerator.tdp, Watts(1200));
  const Benchmarked alone = benchmarked_for(cluster).value();
  const double powered = in_step(alone, c, cluster).kernels.sustained;
  EXPECT_NEAR(powered, alone.kernels.sustained * 0.9 * std::sqrt(1.2), 1e-12);
  c.benchmarked_power.clear();  // unknown: as benchmarked
  EXPECT_NEAR(in_step(alone, c, cluster).kernels.sustained, alone.kernels.sustained * 0.9, 1e-12);
}

// [FORECAST-12] A board that is set to 500 of its 700 W, whatever the benchmarked one drew.
TEST(InStep, ABoardSetBelowItsPowerRunsSlower) {
  StepConstants c = constants();
  c.architectures["hopper"].power_exponent = 0.5;
  Cluster cluster = load_cluster("dgx-h100").value();
  const Benchmarked alone = benchmarked_for(cluster).value();
  const double whole = in_step(alone, c, cluster).kernels.sustained;
  cluster.accelerator.board_power = Watts(500);
  EXPECT_NEAR(in_step(alone, c, cluster).kernels.sustained / whole, std::sqrt(500.0 / 700), 1e-12);
  // What passes over memory reach hangs on no power.
  EXPECT_EQ(in_step(alone, c, cluster).kernels.memory_efficiency,
            alone.kernels.memory_efficiency * c.architecture("hopper").sustained_passes);
}

// [FORECAST-12] Served Llama-2-70B in bulk, as MLPerf published it, on boards of two powers: eight
// H200 of 1,000 W and 700 W (v4.1, NVIDIA: 34,864 and 31,303 tokens/s; 32,790 and 29,228 with a
// bound on latency), eight MI355X of 1,400 W and set to 1,000 W (v6.0, MangoBoost: 97,535 and
// 81,871; 93,272 and 76,360). Nothing is fitted to them. Most of that work is products.
TEST(InStep, ServingOnBoardsOfTwoPowersIsMetByTheSameLaw) {
  const StepConstants& c = step_constants().value();
  const auto factor = [&](const char* name, double watts) {
    Cluster cluster = load_cluster(name).value();
    const Benchmarked alone = benchmarked_for(cluster).value();
    const double before = in_step(alone, c, cluster).kernels.sustained;
    cluster.accelerator.board_power = Watts(watts);
    return in_step(alone, c, cluster).kernels.sustained / before;
  };
  EXPECT_NEAR(factor("dgx-h200", 1000), 34864.2 / 31302.7, 0.03);
  EXPECT_NEAR(factor("dgx-h200", 1000), 32789.7 / 29228.2, 0.03);
  EXPECT_NEAR(factor("mi355x-8", 1000), 81870.5 / 97535.1, 0.08);
  EXPECT_NEAR(factor("mi355x-8", 1000), 76359.5 / 93272.4, 0.08);
}

// [FORECAST-13] From a year after an architecture appeared its extra passes fall by e every
// `maturing` years (here half a year).
TEST(InStep, PassesOf8BitRecipesAreFusedAsSoftwareMatures) {
  StepConstants c = constants();
  c.architectures["blackwell"].extra_passes = 2;
  const Cluster cluster = load_cluster("dgx-b200").value();
  const Benchmarked alone = benchmarked_for(cluster).value();
  const auto moved = [&](double software) {
    return in_step(alone, c, cluster, software).passes_8_bit;
  };
  EXPECT_NEAR(moved(2025.2), 3, 1e-12);
  EXPECT_NEAR(moved(2026.0), 3, 1e-12);
  EXPECT_NEAR(moved(2026.5), 1 + 2 / std::exp(1.0), 1e-12);
  EXPECT_NEAR(moved(0), 1, 1e-12);
}

TEST(InStep, ProductsOfEachWidthAttentionAndPassesHaveTheirOwnShare) {
  StepConstants c = constants();
  ArchitectureConstants& own = c.architectures["blackwell"];
  own.sustained = 0.8;
  own.sustained_8_bit = 0.6;
  own.sustained_4_bit = 0.5;
  own.sustained_attention = 0.7;
  own.sustained_passes = 0.9;
  own.sustained_grouped = 0.75;
  own.immaturity = 0;
  const Cluster cluster = load_cluster("dgx-b200").value();
  const Benchmarked alone = benchmarked_for(cluster).value();
  const KernelParameters& before = alone.kernels;
  const KernelParameters after = in_step(alone, c, cluster).kernels;
  const auto near = [](double got, double expected) { EXPECT_NEAR(got, expected, 1e-12); };
  near(after.sustained, 0.8 * before.sustained);
  const auto ceiling = [](const KernelParameters& kernels, ProductFormat format) {
    return kernels.sustained * kernels.of(format).ceiling;
  };
  for (const auto& [format, kept] :
       {std::pair(ProductFormat::bits_8, 0.6), std::pair(ProductFormat::bits_8_blocks, 0.6),
        std::pair(ProductFormat::bits_4, 0.5)}) {
    near(ceiling(after, format), kept * ceiling(before, format));
  }
  near(after.sustained * after.flash_forward.ceiling[2],
       0.7 * before.sustained * before.flash_forward.ceiling[2]);
  near(after.memory_efficiency, 0.9 * before.memory_efficiency);
  for (std::size_t i = 0; i < kProductFormats; ++i) {
    near(after.products[i].grouped_efficiency, 0.75 * before.products[i].grouped_efficiency);
  }
}

TEST(InStep, CallsReachAShareOfTheBenchmarksBandwidthByNetworkClass) {
  const Cluster cluster = load_cluster("dgx-h100").value();
  ASSERT_EQ(cluster.levels.at(1).network, "ib-ndr");
  const Benchmarked alone = benchmarked_for(cluster).value();
  const Calibration c = in_step(alone, constants(), cluster);
  EXPECT_DOUBLE_EQ(c.levels[1].bandwidth_efficiency, 0.8 * alone.levels[1].bandwidth_efficiency);
  EXPECT_DOUBLE_EQ(c.levels[1].ring_step.value(), alone.levels[1].ring_step.value() / 0.8);
  EXPECT_DOUBLE_EQ(c.levels[0].bandwidth_efficiency, alone.levels[0].bandwidth_efficiency);
}

TEST(StepConstants, EmbeddedOnesLieWithinTheirBounds) {
  StepConstants c = step_constants().value();
  int seen = 0;
  const auto inside = [&](const char* name, const auto& constant, const Bounds& bounds) {
    double value = 0;
    if constexpr (std::is_same_v<std::decay_t<decltype(constant)>, double>) {
      value = constant;
    } else {
      value = constant.value();
    }
    EXPECT_GE(value, bounds.least) << name;
    EXPECT_LE(value, bounds.most) << name;
    EXPECT_FALSE(bounds.reason.empty()) << name;
    ++seen;
  };
  for_each_constant(c.shared, inside);
  for (auto& [name, framework] : c.frameworks) for_each_constant(framework, inside);
  for (auto& [name, architecture] : c.architectures) for_each_constant(architecture, inside);
  for (auto& [name, network] : c.networks) for_each_constant(network, inside);
  EXPECT_GT(seen, 25);
}

}  // namespace
}  // namespace headway
