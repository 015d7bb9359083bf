// Streams of 10,000 jobs: on PAC-ML's 32 servers, and on a fleet.
#include <benchmark/benchmark.h>

#include "study/jobs/question.hpp"

namespace headway {
namespace {

void ten_thousand_jobs(benchmark::State& state, const char* policy) {
  const auto question =
      read_jobs_question(*parse_toml("seeds = 1\n[arrivals]\njobs = 10000\n", "bench"), {{policy}});
  for (auto _ : state) benchmark::DoNotOptimize(answer_jobs(*question, 1, {}));
}
BENCHMARK_CAPTURE(ten_thousand_jobs, max, "max")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ten_thousand_jobs, cheapest, "cheapest")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headway
