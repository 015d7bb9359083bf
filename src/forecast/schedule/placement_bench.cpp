// A pipeline of 64 ranks and 512 micro-batches placed in time, by every schedule: of equal ranks,
// whose slots soon repeat, and of ranks that all differ.
#include <benchmark/benchmark.h>

#include <string>

#include "forecast/schedule/placement.hpp"

namespace headway {
namespace {

void place(benchmark::State& state, Schedule schedule, bool equal) {
  const Pipeline pipeline{schedule, 64, takes_virtual_stages(schedule) ? 2 : 1, 512};
  SlotTimes times;
  for (std::int64_t i = 0; i < pipeline.ranks * pipeline.chunks(); ++i) {
    // Up to a fifth longer, in no order.
    const double longer = equal ? 1 : 1 + 0.2 * static_cast<double>(i * 37 % 64) / 64;
    times.chunks.push_back({Seconds(longer), Seconds(2 * longer), Seconds(longer)});
  }
  times.send = Seconds(0.05);
  double all = 0;
  for (auto _ : state) {
    all = placed_time(pipeline, times).value();
    benchmark::DoNotOptimize(all);
  }
  state.counters["time_s"] = all;
}

bool registered_all() {
  for (std::size_t i = 0; i < kScheduleNames.size(); ++i) {
    for (const bool equal : {true, false}) {
      const std::string name =
          "placed_" + std::string(kScheduleNames[i]) + (equal ? "_equal" : "_unequal");
      benchmark::RegisterBenchmark(name.c_str(), place, static_cast<Schedule>(i), equal)
          ->Unit(benchmark::kMicrosecond);
    }
  }
  return true;
}
const bool registered = registered_all();

}  // namespace
}  // namespace headway
