// What a rank holds, draws and sends over time, beside the events of its timeline.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "simulate/step/simulated.hpp"

namespace headway {

struct TimelineCounter {
  std::int64_t rank = 0;
  std::string name, unit;
  std::vector<std::pair<std::int64_t, double>> values;  // from that ns on
};

/// Of every rank: memory in bytes [SIM-60], power in watts [SIM-61], and of every level that it
/// sends over what its link carries, in percent of the data sheet's rate [SIM-62].
std::vector<TimelineCounter> counters_of(const Run& run, const Calibration& calibration,
                                         const SimulatedStep& step);
/// With the constants of the run's cluster, which simulate_step() has found.
Result<std::vector<TimelineCounter>> counters_of(const Run& run, const SimulatedStep& step);

/// How many values they have at most, on a cluster of so many levels.
std::int64_t count_values(const SimulatedStep& step, std::size_t levels);

}  // namespace headway
