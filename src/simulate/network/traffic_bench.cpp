// Flows over a large network, all begun at once or over time.
#include <benchmark/benchmark.h>

#include "simulate/collectives/every_rank.hpp"
#include "simulate/collectives/placement.hpp"
#include "simulate/network/traffic.hpp"
#include "simulate/topology/topology.hpp"

namespace headway::network {
namespace {

const Speeds kSpeeds{{BytesPerSecond(50e9)}, {Seconds(2e-6)}};

// A plain generator: the same numbers everywhere.
struct Numbers {
  std::uint64_t state = 1;
  std::uint64_t next(std::uint64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33U) % below;
  }
};

// 100,000 flows of 1 to 64 MiB between any two hosts of a tree, one started each `every`.
Traffic flows_over(const Topology& tree, Seconds every) {
  Numbers numbers;
  Traffic out(tree.links);
  std::vector<LinkId> route;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    route.clear();
    const auto from = static_cast<NodeId>(numbers.next(tree.ranks));
    const auto to = static_cast<NodeId>((from + 1 + numbers.next(tree.ranks - 1)) % tree.ranks);
    tree.route(from, to, route);
    out.add({.demand = {.route = route},
             .bytes = Bytes(1048576.0 * static_cast<double>(1 + numbers.next(64))),
             .start = static_cast<double>(i) * every,
             .delay = Seconds(0),
             .tag = i});
  }
  return out;
}

// Over 8,192 hosts, so many nanoseconds between two begins.
void flows_over_fat_tree(benchmark::State& state) {
  const Topology tree = fat_tree(32, 1, kSpeeds);
  for (auto _ : state) {
    Traffic traffic = flows_over(tree, Seconds(static_cast<double>(state.range(0)) * 1e-9));
    std::size_t ended = 0;
    while (const std::size_t more = traffic.advance().size()) ended += more;
    if (ended != 100'000) state.SkipWithError("flows were lost");
  }
}
BENCHMARK(flows_over_fat_tree)->Arg(500)->Arg(200)->Unit(benchmark::kSecond)->Iterations(1);

// The first 1,000 ends of as many flows, all begun at once.
void flows_all_at_once(benchmark::State& state) {
  const Topology tree = fat_tree(32, 1, kSpeeds);
  for (auto _ : state) {
    Traffic traffic = flows_over(tree, Seconds(0));
    for (std::size_t ended = 0; ended < 1'000;) ended += traffic.advance().size();
  }
}
BENCHMARK(flows_all_at_once)->Unit(benchmark::kSecond)->Iterations(1);

// Ring all-reduce of 64 MiB over 4,096 ranks: each kind of step once; all 33.5 million messages;
// and these one by one.
void ring_of_4096(benchmark::State& state) {
  const Topology all = one_switch(4096, kSpeeds);
  const Planned planned = ring({Collective::all_reduce, Bytes(64.0 * 1048576)}, all);
  for (auto _ : state) {
    benchmark::DoNotOptimize(state.range(0) == 2
                                 ? place_every_rank(planned.pattern, all, true).time
                                 : place(planned.pattern, all, state.range(0) == 1).time);
  }
}
BENCHMARK(ring_of_4096)->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace headway::network
