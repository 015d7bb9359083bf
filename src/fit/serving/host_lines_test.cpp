#include "fit/serving/host_lines.hpp"

#include <gtest/gtest.h>

#include "cluster/load.hpp"

namespace headway {
namespace {

Engine solved(const Engine& start, const std::vector<HostLine>& lines,
              const std::set<std::string>& settled = {}) {
  std::vector<const HostLine*> all;
  for (const HostLine& line : lines) all.push_back(&line);
  return host_solved(start, all, settled);
}

// A first token that this host tells of, which takes `pass` of what each launch takes.
template <class Pass>
HostLine launched_line(const Engine& host, const Accelerator& on, double measured,
                       const Pass& pass) {
  HostLine out{.of = 0,
               .quantity = 0,
               .measured = measured,
               .at = pass(host.launch.value()),
               .accelerator = &on,
               .point = host_constants(host, on)};
  for (std::size_t t = 0; t < kLaunchesTried.size(); ++t) {
    out.launched[t] = pass(kLaunchesTried[t]) - out.at;
  }
  return out;
}

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
  const Engine found = solved(start, lines);
  for (const auto& [architecture, is] : truth.untuned) {
    EXPECT_NEAR(found.untuned.at(architecture).products / is.products, 1, 0.1) << architecture;
    EXPECT_NEAR(found.untuned.at(architecture).attention / is.attention, 1, 0.1) << architecture;
  }
  // What is settled stands.
  const Engine stands = solved(start, lines, {"cdna3"});
  EXPECT_NEAR(stands.untuned.at("cdna3").products, 0.1, 1e-9);
  EXPECT_LT(stands.untuned.at("xe-hpc").products, 0.05);
  EXPECT_EQ(stands.step, Seconds(0));
}

// [INFER-8] Of architectures without rows as of those with some, but for what kernels start later
// there: of 100 us on MI300X eight times 2.4 us are.
TEST(HostSolved, LeavesLateStartsOutOfWhatIsUsual) {
  const Accelerator cdna = *load_accelerator("mi300x");
  std::vector<HostLine> lines;
  for (int i = 0; i < 40; ++i) {
    lines.push_back({.of = 0,
                     .quantity = 0,
                     .measured = 110e-6,
                     .at = 10e-6,
                     .accelerator = &cdna,
                     .point = {}});
    lines.back().slopes[kLayer] = 1;
  }
  const Engine found = solved({}, lines);
  EXPECT_GT(found.layer.at("cdna3").value(), 90e-6);
  EXPECT_NEAR((found.layer.at("cdna3") - found.layer.at("default")).value(),
              8 * (cdna.launch_overhead.value() - 1.5e-6), 1e-12);
}

// Launches count where they take longer than the kernels, half of which take 10 ms here and half
// 100: 1,000 launches of 40 us are found from above, and a way of 20 ms beside.
TEST(HostSolved, FindsLaunchesThatKernelsHideInPart) {
  const Accelerator hopper = *load_accelerator("h100-sxm");
  Engine start;
  start.launch = Seconds(150e-6);
  std::vector<HostLine> lines;
  for (int i = 0; i < 40; ++i) {
    const double kernels = i % 2 == 0 ? 10e-3 : 100e-3;
    const auto pass = [&](double launch) { return std::max(kernels, 1000 * launch); };
    lines.push_back(launched_line(start, hopper, pass(40e-6) + 20e-3, pass));
    lines.back().slopes[kRequest] = 1;
  }
  const Engine found = solved(start, lines);
  EXPECT_NEAR(found.launch.value(), 40e-6, 4e-6);
  EXPECT_NEAR(found.request.value(), 20e-3, 4e-3);
}

// Half of the rows have a layer with experts for each ten kernels, and half have none: 20 us of a
// kernel and 1 ms of a layer are told apart, though both are asked for by the host.
TEST(HostSolved, TellsExpertsFromLaunches) {
  const Accelerator hopper = *load_accelerator("h100-sxm");
  Engine start;
  start.launch = Seconds(60e-6);
  std::vector<HostLine> lines;
  for (int i = 0; i < 40; ++i) {
    const double experts = i % 2 == 0 ? 0.1 : 0, kernels = 500 + 50 * (i % 5);
    const auto pass = [&](double launch) { return kernels * launch; };
    lines.push_back(launched_line(start, hopper, pass(20e-6 + experts * 1e-3), pass));
    lines.back().experts = experts;
  }
  const Engine found = solved(start, lines);
  EXPECT_NEAR(found.launch.value(), 20e-6, 2e-6);
  EXPECT_NEAR(found.experts.value(), 1e-3, 0.1e-3);
}

// [INFER-37] What an earlier release took once is found of its own rows, of which there are enough;
// a release of today has none, nor one of which few rows tell.
TEST(HostSolved, FindsTheStartsOfEarlierReleasesAlone) {
  const Accelerator hopper = *load_accelerator("h100-sxm");
  std::vector<HostLine> lines;
  for (const auto& [release, rows] :
       {std::pair(std::string("2025"), 60), {"default", 60}, {"seldom", 10}}) {
    for (int i = 0; i < rows; ++i) {
      HostLine line{.of = 0,
                    .quantity = 0,
                    .measured = 0.2 + 0.5,
                    .at = 0.2,
                    .accelerator = &hopper,
                    .start = release,
                    .point = {}};
      line.slopes[kFirst] = 0.1;
      lines.push_back(line);
    }
  }
  const Engine found = solved({}, lines);
  EXPECT_NEAR(found.starts.at("2025").first.value(), 5, 0.5);
  EXPECT_EQ(found.starts.size(), 1u);
}

}  // namespace
}  // namespace headway
