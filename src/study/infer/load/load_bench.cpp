#include <benchmark/benchmark.h>

#include "study/infer/load/closed.hpp"

namespace headway {
namespace {

StepTimes steps_of_eight() {
  StepTimes out;
  for (double tokens = 1; tokens < 20'000; tokens *= 1.4) {
    out.tokens.push_back(tokens);
    out.work.push_back(0.008 + 2e-5 * tokens);
    out.head.push_back(1e-6 * tokens);
  }
  out.read_token = 1e-9;
  out.pair = 1e-12;
  return out;
}

Load ten_thousand(std::int64_t clients) {
  Load out{.input = 1000, .output = 500, .arrivals = Arrivals::clients, .batch = clients};
  out.output_spread = {LengthSpread::Kind::log_normal, 0.8};
  out.count = 10'000;
  return out;
}

// 10,000 requests placed in time; with room for all, and where some are computed anew.
void requests_of_clients(benchmark::State& state) {
  const StepTimes steps = steps_of_eight();
  Policy policy;
  policy.reserve = false;
  policy.block = 16;
  const Load load = ten_thousand(state.range(0));
  const Engined engine{steps, policy, static_cast<double>(state.range(1))};
  for ([[maybe_unused]] const auto each : state) {
    benchmark::DoNotOptimize(answered(engine, load).elapsed);
  }
}
BENCHMARK(requests_of_clients)
    ->Args({64, 2'000'000})
    ->Args({1000, 2'000'000})
    ->Args({1000, 100'000})
    ->Unit(benchmark::kMillisecond);

void one_step(benchmark::State& state) {
  const StepTimes steps = steps_of_eight();
  double decoding = 0;
  for ([[maybe_unused]] const auto each : state) {
    decoding = decoding > 500 ? 1 : decoding + 1;
    benchmark::DoNotOptimize(
        steps.of({.decoding = decoding, .cached = 1e5, .prompt = decoding, .pairs = 1e6}));
  }
}
BENCHMARK(one_step);

void clients_in_closed_form(benchmark::State& state) {
  const StepTimes steps = steps_of_eight();
  const Policy policy;
  const Load load = ten_thousand(64);
  const Engined engine{steps, policy, 2e6};
  for ([[maybe_unused]] const auto each : state) {
    benchmark::DoNotOptimize(in_closed_form(engine, load)->rate);
  }
}
BENCHMARK(clients_in_closed_form);

}  // namespace
}  // namespace headway
