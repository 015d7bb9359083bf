// A pipeline of 64 ranks and 512 micro-batches with spans, peaks and orders of every rank; measured
// pipelines run again.
#include <benchmark/benchmark.h>

#include "simulate/pipeline/question.hpp"
#include "simulate/replay/replay.hpp"

namespace headway {
namespace {

void pipeline(benchmark::State& state) {
  const auto question = read_pipeline({{"schedule", "1f1b"},
                                       {"pp", "64"},
                                       {"micro-batches", "512"},
                                       {"forward", "10 ms"},
                                       {"backward", "10 ms"},
                                       {"weight", "8 ms"},
                                       {"transfer", "0.5 ms"}});
  for (auto _ : state) benchmark::DoNotOptimize(simulate_pipeline(*question));
}
BENCHMARK(pipeline)->Unit(benchmark::kMillisecond);

void replayed(benchmark::State& state) {
  MeasuredOps ops{.stages = 8, .micro_batches = 64, .pipelines = {}};
  for (std::int64_t i = 0; i < 64; ++i) {
    MeasuredPipeline& pipeline = ops.pipelines.emplace_back();
    pipeline.step = i / 16;
    pipeline.dp_rank = i % 16;
    for (std::int64_t op = 0; op < 8 * 64; ++op) {
      const double longer = 1 + 0.1 * static_cast<double>((op * 37 + i * 11) % 64) / 64;
      pipeline.ops.push_back({Seconds(0.1 * longer), Seconds(0.2 * longer)});
    }
  }
  for (auto _ : state) benchmark::DoNotOptimize(replay(ops));
}
BENCHMARK(replayed)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headway
