// Every rank of a step of 64 accelerators and of one of 3,072; noise on each of them.
#include <benchmark/benchmark.h>

#include "simulate/ranks/ranks.hpp"
#include "simulate/step/runs_for_test.hpp"

namespace headway {
namespace {

void every_rank(benchmark::State& state, const RunRequest& fields, double noise) {
  const auto run = make_run(fields);
  const auto calibration = calibration_for(*run);
  Perturbations differ;
  differ.slot_noise = noise;
  double time = 0;
  for (auto _ : state) {
    const SimulatedStep alike = simulate_step(*run, *calibration);
    time = place_ranks(ranks_work(*run, *calibration, differ, alike), 0).step_time.value();
    benchmark::DoNotOptimize(time);
  }
  state.counters["step_s"] = time;
}

BENCHMARK_CAPTURE(every_rank, llama_8b_on_64, testing::llama_8b_on_64(), 0)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(every_rank, llama_8b_on_64_noise, testing::llama_8b_on_64(), 0.02)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(every_rank, megatron_1t_on_3072, testing::megatron_1t_on_3072(), 0)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(every_rank, megatron_1t_on_3072_noise, testing::megatron_1t_on_3072(), 0.02)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headway
