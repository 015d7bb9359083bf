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

}  // namespace
}  // namespace headway
