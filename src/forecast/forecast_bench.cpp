// One forecast in process, single thread: what a search over layouts pays for each candidate.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>

#include "cluster/load.hpp"
#include "forecast/forecast.hpp"
#include "model/reading/load.hpp"

namespace headway {
namespace {

template <class T>
T or_exit(Result<T> result) {
  if (result) return *result;
  for (const Problem& problem : result.problems()) {
    std::cerr << where_text(problem) << ": " << problem.message << "\n";
  }
  std::exit(1);
}

struct Case : Run {
  Calibration calibration;
};

Case case_of(const char* model, const char* cluster) {
  Case out;
  out.model = or_exit(load_model(model));
  out.cluster = or_exit(load_cluster(cluster));
  out.calibration = or_exit(calibration_for(out.cluster));
  return out;
}

void run(benchmark::State& state, const Case& c) {
  const Problems problems = check(c);
  for (const Problem& problem : problems) {
    state.SkipWithError((where_text(problem) + ": " + problem.message).c_str());
    return;
  }
  Forecast out;
  for (auto _ : state) {
    out = forecast(c, c.calibration);
    benchmark::DoNotOptimize(out);
  }
  state.counters["step_time_s"] = out.step_time.value();
  state.counters["mfu"] = out.mfu;
}

// The 1T run of arXiv 2104.04473 §5.1 with the attention of 2205.05198.
void megatron_1t_on_3072_a100(benchmark::State& state) {
  Case c = case_of("megatron-1t", "dgx-a100-80gb");
  c.job.sequence = 2048;
  c.job.global_batch = 3072;
  c.job.attention = AttentionKernel::unfused;
  c.layout.tp = 8;
  c.layout.pp = 64;
  c.layout.dp = 6;
  c.layout.zero = 1;
  c.layout.recompute = Recompute::selective;
  run(state, c);
}
BENCHMARK(megatron_1t_on_3072_a100)->Unit(benchmark::kMicrosecond);

void llama_405b_on_16384_h100(benchmark::State& state) {
  Case c = case_of("llama-3.1-405b", "dgx-h100");
  c.job.sequence = 8192;
  c.job.global_batch = 2048;
  c.layout.tp = 8;
  c.layout.pp = 16;
  c.layout.dp = 128;
  c.layout.zero = 1;
  c.layout.first_stage_layers = 7;
  c.layout.last_stage_layers = 7;
  run(state, c);
}
BENCHMARK(llama_405b_on_16384_h100)->Unit(benchmark::kMicrosecond);

void deepseek_v3_on_2048_h100(benchmark::State& state) {
  Case c = case_of("deepseek-v3", "dgx-h100");
  c.job.sequence = 4096;
  c.job.global_batch = 15360;
  c.job.recipe = recipe_from("fp8-block");
  c.layout.pp = 16;
  c.layout.dp = 128;
  c.layout.ep = 64;
  c.layout.zero = 1;
  c.layout.first_stage_layers = 4;
  c.layout.last_stage_layers = 1;
  c.layout.schedule = Schedule::dual_pipe;
  run(state, c);
}
BENCHMARK(deepseek_v3_on_2048_h100)->Unit(benchmark::kMicrosecond);

// Entries of MLPerf Training: all of a rank's part of the batch at once, in 16 bit.
Case network_case(const char* model, const char* cluster, std::int64_t ranks, std::int64_t batch) {
  Case c = case_of(model, cluster);
  c.job.framework = framework_of_networks();
  c.job.recipe = recipe_from("fp16");
  c.job.graphs = Graphs::step;
  c.job.sequence = 1;
  c.job.global_batch = batch;
  c.layout.dp = ranks;
  c.layout.micro_batch = batch / ranks;
  c.layout.zero = 0;
  return c;
}

void dlrm_dcnv2_on_64_h100(benchmark::State& state) {
  Case c = network_case("dlrm-dcnv2", "dgx-h100", 64, 65536);
  c.layout.ep = 64;
  run(state, c);
}
BENCHMARK(dlrm_dcnv2_on_64_h100)->Unit(benchmark::kMicrosecond);

void resnet_50_on_8_h100(benchmark::State& state) {
  run(state, network_case("resnet-50", "dgx-h100", 8, 3200));
}
BENCHMARK(resnet_50_on_8_h100)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace headway
