#include <benchmark/benchmark.h>

#include "cost/collective/collective.hpp"

namespace headway {
namespace {

void collective(benchmark::State& state) {
  Cluster cluster;
  for (const std::int64_t size : {8, 256, 8192}) {
    Level level;
    level.size = size;
    level.bandwidth = level.port_bandwidth = BytesPerSecond(size == 8 ? 450e9 : 50e9);
    level.latency = Seconds(size == 8 ? 2e-6 : 5e-6);
    level.in_network_reduction = size == 8;
    cluster.levels.push_back(level);
  }
  GroupSpan span;
  span.ranks = 1024;
  span.members = {8, 256, 1024};
  span.sharing = span.members;
  const LevelParameters parameters;
  const auto op = static_cast<CollectiveOp>(state.range(0));
  state.SetLabel(std::string(to_name(op)));
  double bytes = 1e6;
  for (auto _ : state) {
    bytes += 1;
    benchmark::DoNotOptimize(collective_time(op, Bytes(bytes), span, cluster, parameters));
  }
}
BENCHMARK(collective)->DenseRange(0, 5);

}  // namespace
}  // namespace headway
