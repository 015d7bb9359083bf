// A step of 64 accelerators and one of 3,072, by classes of ranks.
#include <benchmark/benchmark.h>

#include "simulate/step/runs_for_test.hpp"
#include "simulate/step/simulated.hpp"

namespace headway {
namespace {

void step(benchmark::State& state, const RunRequest& fields) {
  const auto run = make_run(fields);
  double time = 0;
  for (auto _ : state) {
    time = simulate_step(*run)->step_time.value();
    benchmark::DoNotOptimize(time);
  }
  state.counters["step_s"] = time;
}
BENCHMARK_CAPTURE(step, llama_8b_on_64, testing::llama_8b_on_64())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, megatron_1t_on_3072, testing::megatron_1t_on_3072())
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headway
