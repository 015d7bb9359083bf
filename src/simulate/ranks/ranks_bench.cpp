// Every rank of a step of 64 accelerators and of one of 3,072; noise on each of them.
#include <benchmark/benchmark.h>

#include "run/run.hpp"
#include "simulate/ranks/ranks.hpp"

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

const RunRequest& llama_8b() {
  static const RunRequest out = {{"model", "llama-3-8b"},
                                 {"cluster", "dgx-h100"},
                                 {"gpus", "64"},
                                 {"seq", "8192"},
                                 {"global-batch", "128"},
                                 {"tp", "2"},
                                 {"pp", "2"}};
  return out;
}
const RunRequest& megatron_1t() {
  static const RunRequest out = {{"model", "megatron-1t"},
                                 {"cluster", "dgx-a100-80gb"},
                                 {"gpus", "3072"},
                                 {"seq", "2048"},
                                 {"global-batch", "3072"},
                                 {"tp", "8"},
                                 {"pp", "64"},
                                 {"recompute", "full"}};
  return out;
}

BENCHMARK_CAPTURE(every_rank, llama_8b_on_64, llama_8b(), 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(every_rank, llama_8b_on_64_noise, llama_8b(), 0.02)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(every_rank, megatron_1t_on_3072, megatron_1t(), 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(every_rank, megatron_1t_on_3072_noise, megatron_1t(), 0.02)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headway
