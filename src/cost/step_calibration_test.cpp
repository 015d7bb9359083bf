#include <gtest/gtest.h>

#include <cmath>

#include "cluster/load.hpp"
#include "cost/calibration.hpp"

namespace headway {
namespace {

constexpr const char* kEstimates = R"(
[shared]
interference = 0.2
straggling = 0.001
maturing = 0.5
[power]
compute = 0.9
waiting = 0.7
kind = "estimated"
source = "a test"
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
)";

Document document(const char* text) {
  const auto parsed = parse_toml(text, "step.toml");
  EXPECT_TRUE(parsed.ok());
  return parsed.ok() ? *parsed : Document{};
}

StepConstants constants() {
  return step_constants_from(document(kEstimates), nullptr).value();
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
  const Document fit = document("[framework.default]\nhost_launch = \"60 us\"\n");
  const StepConstants c = step_constants_from(document(kEstimates), &fit).value();
  const auto& fsdp = c.framework("fsdp");
  const auto& jax = c.framework("jax");
  EXPECT_DOUBLE_EQ(jax.host_launch.value(), 60e-6);
  EXPECT_DOUBLE_EQ(fsdp.host_launch.value(), 30e-6);
  EXPECT_DOUBLE_EQ(jax.step_overhead.value(), 2e-3);
}

TEST(StepConstants, EveryProblemIsReportedWithItsLine) {
  const Document fit = document(
      "[framework.jax]\nhost_launch = \"1 s\"\nhost_lunch = \"1 us\"\n"
      "[architecture.volta]\nsustained = 1.5\n[shared]\nstraggling = \"much\"\n");
  const auto c = step_constants_from(document(kEstimates), &fit);
  ASSERT_FALSE(c.ok());
  EXPECT_EQ(c.problems().size(), 4u);
  for (const Problem& problem : c.problems()) {
    EXPECT_NE(problem.where.find("step.toml:"), std::string::npos) << problem.where;
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
