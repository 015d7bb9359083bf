// A step of 64 accelerators and one of 3,072, by classes of ranks.
#include <benchmark/benchmark.h>

#include "run/run.hpp"
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
BENCHMARK_CAPTURE(step, llama_8b_on_64,
                  {{"model", "llama-3-8b"},
                   {"cluster", "dgx-h100"},
                   {"gpus", "64"},
                   {"seq", "8192"},
                   {"global-batch", "128"},
                   {"tp", "2"},
                   {"pp", "2"}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, megatron_1t_on_3072,
                  {{"model", "megatron-1t"},
                   {"cluster", "dgx-a100-80gb"},
                   {"gpus", "3072"},
                   {"seq", "2048"},
                   {"global-batch", "3072"},
                   {"tp", "8"},
                   {"pp", "64"},
                   {"recompute", "full"}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headway
