#include "study/design/op_table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "cluster/load.hpp"
#include "run/run.hpp"
#include "study/infer/serving_for_test.hpp"

namespace headway {
namespace {

RequestedRun run_of(const std::string& model, const std::string& cluster, std::int64_t gpus,
                    RunRequest more = {}) {
  RunRequest fields = {{"model", model},
                       {"cluster", cluster},
                       {"gpus", std::to_string(gpus)},
                       {"seq", "2048"},
                       {"global-batch", std::to_string(2 * gpus)}};
  fields.insert(fields.end(), more.begin(), more.end());
  return *make_run(fields);
}

Serving served_on(const std::string& model, const std::string& cluster, std::int64_t tp) {
  return testing::serving_of(model, cluster, tp);
}

double seconds_of_part(const OpTable& table, std::string_view part) {
  double out = 0;
  for (const OpRow& row : table.rows) {
    if (row.part == part) out += row.time().value();
  }
  return out;
}

// [DESIGN-1] max(a/x, b/y) + c: all of the longer goes to its own rate, c to latency.
TEST(BoundTimes, OfTheLongerOfTwoAndAFixedTimeAreThoseThree) {
  Cluster cluster = *load_cluster("dgx-h100");
  const auto times = bound_times(cluster, [](const Cluster& on) {
    const double compute = 3e14 / on.accelerator.peak_of(Precision::bf16).value();
    const double memory = 5e11 / on.accelerator.memory_bandwidth.value();
    return std::vector<Seconds>{Seconds(std::max(compute, memory) + 0.01),
                                Seconds(compute + memory)};
  });
  const double compute = 3e14 / 989.4e12, memory = 5e11 / 3.352e12;
  EXPECT_NEAR(times[0][Bound::compute].value(), compute, 1e-7);
  EXPECT_NEAR(times[0][Bound::memory].value(), 0, 1e-7);
  EXPECT_NEAR(times[0][Bound::latency].value(), 0.01, 1e-7);
  EXPECT_NEAR(times[1][Bound::compute].value(), compute, 1e-7);
  EXPECT_NEAR(times[1][Bound::memory].value(), memory, 1e-7);
  EXPECT_EQ(times[0].most(), Bound::compute);
}

// [DESIGN-2] One rank alone: no calls, no pipeline, so that all of compute is kernels, none of it
// what is left. Its FLOPs are those of the model: 6 a parameter and token, attention on top.
TEST(OpTable, OfOneRankAloneIsItsKernels) {
  const RequestedRun run = run_of("llama-3.2-1b", "dgx-h100", 1);
  const Calibration calibration = *calibration_for(run);
  const OpTable table = op_table(run, calibration);
  const Forecast whole = forecast(run, calibration);
  double flops = 0;
  for (const OpRow& row : table.rows) {
    EXPECT_NE(row.name, "slowed beside calls");
    flops += row.flops.value();
  }
  EXPECT_NEAR(seconds_of_part(table, "compute"), whole.parts.compute.value(),
              1e-9 * whole.step_time.value());
  const double tokens = 2.0 * 2048;
  // Of 1.236 G parameters; the tied embedding is a product once, as the head.
  EXPECT_GT(flops, 6 * 1.23e9 * tokens);
  EXPECT_LT(flops, 6 * 1.23e9 * tokens * 1.15);
}

// [DESIGN-2] Whatever the run, the rows of each part add up to it.
TEST(OpTable, AddsUpToThePartsOfTheStep) {
  const std::vector<RequestedRun> runs = {
      run_of("llama-3-8b", "dgx-h100", 64, {{"zero", "3"}}),
      run_of("llama-3-70b", "dgx-h100", 64, {{"tp", "8"}, {"pp", "4"}, {"recompute", "full"}}),
      run_of("mixtral-8x7b", "dgx-h100", 64, {{"tp", "2"}, {"ep", "8"}}),
      run_of("gpt3-6.7b", "dgx-a100-80gb", 16, {{"tp", "4"}, {"pp", "2"}})};
  for (const RequestedRun& run : runs) {
    const Calibration calibration = *calibration_for(run);
    const OpTable table = op_table(run, calibration);
    const Forecast whole = forecast(run, calibration);
    for (const PartRow& part : kParts) {
      EXPECT_NEAR(seconds_of_part(table, part.name), whole.parts[part.part].value(),
                  2e-9 * whole.step_time.value())
          << run.model.name << " " << part.name;
    }
    for (const OpRow& row : table.rows) {
      if (row.flops > Flops(0)) {
        EXPECT_LE(row.times[Bound::network].value(), 1e-9) << row.name;
      }
      for (const Seconds each : row.times.of()) {
        EXPECT_GE(each.value(), -1e-6 * whole.step_time.value()) << row.part << " " << row.name;
      }
    }
  }
}

// [DESIGN-2] The same of a pass, of kernels and calls each as they were priced.
TEST(OpTable, AddsUpToThePartsOfAPass) {
  for (const char* model : {"llama-3-8b", "mixtral-8x7b", "deepseek-v3"}) {
    const Serving serving = served_on(model, "dgx-h200", 8);
    const ServingConstants constants = *serving_constants(serving.cluster);
    for (const PassWork& work : {PassWork{.sequences = 16, .tokens = 1, .cached = 4000},
                                 PassWork{.sequences = 1, .tokens = 4000, .replayed = false}}) {
      const OpTable table = op_table(serving, constants, work);
      const PassTime pass = time_of(serving, constants, work);
      for (std::size_t i = 0; i < kServingPartNames.size(); ++i) {
        EXPECT_NEAR(seconds_of_part(table, kServingPartNames[i]), pass.parts[i].value(),
                    1e-9 * pass.total().value())
            << model << " " << kServingPartNames[i];
      }
    }
  }
}

// A product of so few rows reads its weights for hardly any FLOPs; of thousands it computes.
TEST(OpTable, SaysThatDecodingIsBoundByMemoryAndPrefillByCompute) {
  const Serving serving = served_on("llama-3-70b", "dgx-h100", 8);
  const ServingConstants constants = *serving_constants(serving.cluster);
  const auto longest = [&](const PassWork& work) {
    const OpTable table = op_table(serving, constants, work);
    return *std::max_element(table.rows.begin(), table.rows.end(),
                             [](const OpRow& a, const OpRow& b) { return a.time() < b.time(); });
  };
  const OpRow decode = longest({.sequences = 8, .tokens = 1, .cached = 1000});
  EXPECT_EQ(decode.module, "feed_forward");
  EXPECT_EQ(decode.times.most(), Bound::memory);
  // 2·m·n·k over 2·(m·k + k·n + m·n) with m = 8: a little below 8.
  EXPECT_NEAR(decode.intensity(), 8, 0.1);
  const OpRow prefill = longest({.sequences = 1, .tokens = 8000, .replayed = false});
  EXPECT_EQ(prefill.times.most(), Bound::compute);
  EXPECT_GT(prefill.intensity(), 1000);
}

// Of calls in a node the links bind, of those beyond it the network; of memory its generation.
TEST(OpTable, NamesTheLevelOfMemoryOrOfTheNetworkThatBinds) {
  const RequestedRun run =
      run_of("llama-3-70b", "dgx-h100", 64, {{"tp", "8"}, {"zero", "1"}, {"global-batch", "8"}});
  std::map<std::string, std::string> levels;  // of each part the longest's
  for (const OpRow& row : op_table(run, *calibration_for(run)).rows) {
    if (row.times.most() == Bound::network) levels.try_emplace(row.part, row.level);
    if (row.times.most() == Bound::memory) {
      EXPECT_EQ(row.level, "hbm3") << row.name;
    }
    if (row.times.most() == Bound::compute || row.times.most() == Bound::latency) {
      EXPECT_EQ(row.level, "") << row.name;
    }
  }
  EXPECT_EQ(levels["tp"], "nvlink4");
  EXPECT_EQ(levels["dp"], "ib-ndr");
}

// Modules of the layers of a dense model: FLOPs of attention's products and of the feed-forward
// part are as their matrices are large, backward twice as many as forward.
TEST(OpTable, TellsAttentionFromFeedForward) {
  const RequestedRun run = run_of("llama-3-8b", "dgx-h100", 8, {{"tp", "2"}, {"zero", "1"}});
  std::map<std::string, double> forward, backward;
  for (const OpRow& row : op_table(run, *calibration_for(run)).rows) {
    if (row.part != "compute" || !row.name.starts_with("product")) continue;
    (row.phase == "backward" ? backward : forward)[row.module] += row.flops.value();
  }
  const double attention = 4096.0 * 4096 * 2 + 4096.0 * 1024 * 2, feed_forward = 3 * 4096.0 * 14336;
  EXPECT_NEAR(forward["feed_forward"] / forward["attention"], feed_forward / attention, 1e-9);
  for (const char* module : {"attention", "feed_forward", "head"}) {
    EXPECT_NEAR(backward[module] / forward[module], 2, 1e-9) << module;
  }
  EXPECT_EQ(forward.count("layer"), 0U);
}

}  // namespace
}  // namespace headway
