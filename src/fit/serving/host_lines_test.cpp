#include "fit/serving/host_lines.hpp"

#include <gtest/gtest.h>

#include "cluster/load.hpp"

namespace headway {
namespace {

// [INFER-12] Kernels that were made for neither of two architectures, each with shares of its own:
// of lines that follow them exactly, found for each.
TEST(HostSolved, FindsTheKernelsOfEachArchitecture) {
  const Accelerator cdna = *load_accelerator("mi300x"), xe = *load_accelerator("max-1550");
  Engine truth;
  truth.step = Seconds(1e-3);
  truth.untuned = {{"cdna3", {0.05, 0.5}}, {"xe-hpc", {0.02, 0.1}}};
  Engine start;
  start.untuned = {{"cdna3", {0.1, 0.3}}, {"xe-hpc", {0.1, 0.3}}};
  std::vector<HostLine> lines;
  for (const Accelerator* accelerator : {&cdna, &xe}) {
    for (int i = 0; i < 30; ++i) {
      HostLine line{.of = 0,
                    .quantity = 2,
                    .measured = 0.01,
                    .at = 0.01,
                    .accelerator = accelerator,
                    .point = host_constants(start, *accelerator)};
      line.slopes[kStep] = 1;
      line.slopes[kProducts] = 1e-3 * (1 + i % 3);
      line.slopes[kAttention] = 5e-3 * (1 + i % 5);
      const HostConstants is = host_constants(truth, *accelerator);
      for (std::size_t k = 0; k < is.size(); ++k) {
        line.at += line.slopes[k] * line.point[k];
        line.measured += line.slopes[k] * is[k];
      }
      lines.push_back(line);
    }
  }
  std::vector<const HostLine*> all;
  for (const HostLine& line : lines) all.push_back(&line);
  const Engine found = host_solved(start, all, {});
  for (const auto& [architecture, is] : truth.untuned) {
    EXPECT_NEAR(found.untuned.at(architecture).products / is.products, 1, 0.1) << architecture;
    EXPECT_NEAR(found.untuned.at(architecture).attention / is.attention, 1, 0.1) << architecture;
  }
  // What is settled stands.
  const Engine stands = host_solved(start, all, {"cdna3"});
  EXPECT_NEAR(stands.untuned.at("cdna3").products, 0.1, 1e-9);
  EXPECT_LT(stands.untuned.at("xe-hpc").products, 0.05);
  EXPECT_EQ(stands.step, Seconds(0));
}

// Launches count where they take longer than the kernels, half of which take 10 ms here and half
// 100: 1,000 launches of 40 us are found from above, and a way of 20 ms beside.
TEST(HostSolved, FindsLaunchesThatKernelsHideInPart) {
  const Accelerator hopper = *load_accelerator("h100-sxm");
  const auto pass = [](double kernels, double launch) { return std::max(kernels, 1000 * launch); };
  constexpr double kFrom = 150e-6;
  Engine start;
  start.launch = Seconds(kFrom);
  std::vector<HostLine> lines;
  for (int i = 0; i < 40; ++i) {
    const double kernels = i % 2 == 0 ? 10e-3 : 100e-3;
    HostLine line{.of = 0,
                  .quantity = 0,
                  .measured = pass(kernels, 40e-6) + 20e-3,
                  .at = pass(kernels, kFrom),
                  .accelerator = &hopper,
                  .point = host_constants(start, hopper)};
    line.slopes[kRequest] = 1;
    for (std::size_t t = 0; t < kLaunchesTried.size(); ++t) {
      line.launched[t] = pass(kernels, kLaunchesTried[t]) - line.at;
    }
    lines.push_back(line);
  }
  std::vector<const HostLine*> all;
  for (const HostLine& line : lines) all.push_back(&line);
  const Engine found = host_solved(start, all, {});
  EXPECT_NEAR(found.launch.value(), 40e-6, 4e-6);
  EXPECT_NEAR(found.request.value(), 20e-3, 4e-3);
}

}  // namespace
}  // namespace headway
