// Serving: one pass, one step of an engine in its quick form, and requests placed in time.
#include <benchmark/benchmark.h>

#include "cluster/load.hpp"
#include "model/reading/load.hpp"
#include "study/infer/engines.hpp"
#include "study/infer/steps.hpp"

namespace headway {
namespace {

// Llama 3 70B on eight H100.
Serving benched() {
  Serving out;
  out.model = *load_model("llama-3-70b");
  out.cluster = *load_cluster("dgx-h100");
  out.weights = recipe_from("fp8");
  out.cache = cache_format("fp8");
  out.tp = 8;
  out.engine = engines()->front();
  return out;
}

void decode_pass(benchmark::State& state) {
  const Serving serving = benched();
  const ServingConstants constants = *serving_constants(serving.cluster);
  const PassWork work{.sequences = 64, .tokens = 1, .cached = 2000};
  for (auto _ : state) benchmark::DoNotOptimize(time_of(serving, constants, work));
}
BENCHMARK(decode_pass)->Unit(benchmark::kMicrosecond);

void quick_step(benchmark::State& state) {
  const Serving serving = benched();
  const StepTimes steps = step_times(serving, *serving_constants(serving.cluster), 1000, 500);
  double decoding = 0;
  for (auto _ : state) {
    decoding = decoding < 512 ? decoding + 1 : 1;
    benchmark::DoNotOptimize(
        steps.of({.decoding = decoding, .cached = 1200 * decoding, .prompt = 700}));
  }
}
BENCHMARK(quick_step)->Unit(benchmark::kNanosecond);

void steps_of_a_serving(benchmark::State& state) {
  const Serving serving = benched();
  const ServingConstants constants = *serving_constants(serving.cluster);
  for (auto _ : state) benchmark::DoNotOptimize(step_times(serving, constants, 1000, 500));
}
BENCHMARK(steps_of_a_serving)->Unit(benchmark::kMillisecond);

// 1,000 clients, ten requests each.
void ten_thousand_requests(benchmark::State& state) {
  const Serving serving = benched();
  const StepTimes steps = step_times(serving, *serving_constants(serving.cluster), 1000, 500);
  const Load load{.input = 1000, .output = 500, .arrivals = Arrivals::clients, .batch = 1000};
  for (auto _ : state)
    benchmark::DoNotOptimize(answered({steps, serving.engine.policy, 3e6}, load));
}
BENCHMARK(ten_thousand_requests)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headway
