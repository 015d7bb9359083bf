#include <benchmark/benchmark.h>

#include "cluster/load.hpp"
#include "layout/placement.hpp"

namespace headway {
namespace {

// A forecast asks for some twenty spans and has 20 us in all.
void span_of_a_group(benchmark::State& state, const char* name, std::int64_t ranks,
                     std::int64_t stride, std::int64_t total) {
  const auto cluster = load_cluster(name);
  if (!cluster) return state.SkipWithError("cluster does not load");
  for (auto _ : state) {
    benchmark::DoNotOptimize(ranks);
    benchmark::DoNotOptimize(span_of(ranks, stride, total, *cluster));
  }
}
BENCHMARK_CAPTURE(span_of_a_group, dgx_dividing, "dgx-h100", 64, 8, 3072);
BENCHMARK_CAPTURE(span_of_a_group, frontier_dividing, "frontier", 64, 4, 3072);
BENCHMARK_CAPTURE(span_of_a_group, nvl72_usable, "gb200-nvl72", 16, 4, 4096);
BENCHMARK_CAPTURE(span_of_a_group, dgx_not_dividing, "dgx-h100", 105, 6, 2520);

}  // namespace
}  // namespace headway
