// Forecasts from fields, as programs ask for them: one, and a sweep of rows that all differ. Single
// thread.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

#include "api/forecasts/forecasts.hpp"

namespace headway {
namespace {

RunRequest fields_of_run() {
  const auto fields = run_fields_of(
      R"({"model":"llama-2-70b","cluster":"dgx-h100","gpus":64,"seq":4096,"global-batch":512,"tp":8,"pp":2})");
  if (!fields) std::exit(1);
  return *fields;
}

SweptField drawn(const char* name, std::vector<std::string> texts, std::size_t rows) {
  std::mt19937 draw(static_cast<unsigned>(texts.size()));
  SweptField out{name, std::move(texts), {}};
  for (std::size_t i = 0; i < rows; ++i) {
    out.of_row.push_back(static_cast<std::uint32_t>(draw() % out.texts.size()));
  }
  return out;
}

// The sweep of apps/python/bench.py.
std::vector<SweptField> swept_fields(std::size_t rows) {
  std::vector<std::string> sequences;
  for (int tokens = 1024; tokens < 9216; tokens += 64) sequences.push_back(std::to_string(tokens));
  return {drawn("gpus", {"64", "128", "256", "512"}, rows), drawn("tp", {"1", "2", "4", "8"}, rows),
          drawn("pp", {"1", "2", "4"}, rows), drawn("global-batch", {"512", "1024"}, rows),
          drawn("seq", std::move(sequences), rows)};
}

void one_run(benchmark::State& state) {
  const RunRequest fields = fields_of_run();
  KeptCalibration kept;
  for (auto _ : state) {
    auto found = predicted_run(fields, kept);
    benchmark::DoNotOptimize(found);
  }
}
BENCHMARK(one_run)->Unit(benchmark::kMicrosecond);

void sweep(benchmark::State& state) {
  const RunRequest fields = fields_of_run();
  const auto rows = static_cast<std::size_t>(state.range(0));
  const std::vector<SweptField> swept = swept_fields(rows);
  for (auto _ : state) {
    auto table = forecast_rows(fields, swept, 1, {});
    benchmark::DoNotOptimize(table);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(sweep)->Arg(20'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headway
