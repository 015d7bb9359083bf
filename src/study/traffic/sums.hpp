// What the calls of a rank add up to: by group, operation and phase, by the level they cross, by
// the size of their messages.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "study/traffic/traffic.hpp"

namespace headway {

/// Totals of some of a rank's calls in one step.
struct TrafficSum {
  std::string name;
  double calls = 0;
  Bytes algorithm, wire;
  Seconds time;     // of all calls, hidden or not
  Seconds latency;  // of it, what does not depend on the size
  Seconds exposed;
};

TrafficSum sum_of(const std::vector<TrafficCall>& calls);

/// By the name that `key` gives each call, the largest on the wire first.
std::vector<TrafficSum> sums_by(const std::vector<TrafficCall>& calls,
                                const std::function<std::string(const TrafficCall&)>& key);

/// By the kinds of layer that they serve, in the order of kModuleNames, those that occur: of a call
/// that serves several each has its share of everything [COMM-10].
std::vector<TrafficSum> sums_by_module(const std::vector<TrafficCall>& calls);

std::string group_of(const TrafficCall& call);
std::string operation_of(const TrafficCall& call);
std::string phase_of(const TrafficCall& call);
/// "dp all_reduce".
std::string group_and_operation_of(const TrafficCall& call);

/// The small ones among them [COMM-4].
TrafficSum small_sum(const std::vector<TrafficCall>& calls);

/// What a rank sends across one level, and what that is to the links [COMM-3].
struct LevelLoad {
  std::size_t level = 0;
  Bytes wire;                // of a rank
  std::int64_t ports = 0;    // network cards that the ranks below share; 0: each rank has a port
  std::int64_t sharing = 1;  // ranks that share them
  Bytes each_port;
  BytesPerSecond port_rate;  // as the data sheet says, in one direction
  double busy = 0;           // each_port at that rate over the step's time
};

/// Of every level that anything crosses, from the inside.
std::vector<LevelLoad> level_loads(const std::vector<TrafficCall>& calls, const Traffic& traffic,
                                   const Cluster& cluster);

/// Messages of 2^power to 2^(power + 1) bytes.
struct SizeClass {
  int power = 0;
  TrafficSum sum;
};

/// From the smallest to the largest size that occurs, without gaps.
std::vector<SizeClass> size_histogram(const std::vector<TrafficCall>& calls);

}  // namespace headway
