// A simulated step as what viewers of traces show: events on tracks, a process for each rank.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "simulate/step/simulated.hpp"
#include "simulate/timeline/counters.hpp"

namespace headway {

struct TimelineEvent {
  std::int64_t begin = 0, end = 0;  // ns
  std::string name;
  std::vector<std::uint64_t> sends;  // arrows that begin here, by their number
  std::uint64_t receives = 0;        // the one that ends here; 0: none
};

/// Events one after another; none begins before the one before it has ended.
struct TimelineTrack {
  std::int64_t rank = 0;
  std::string name;
  std::vector<TimelineEvent> events;
};

/// How many events a timeline has: kernels, calls and slots of all ranks.
std::int64_t count_events(const SimulatedStep& step);
/// Tracks rank after rank: slots, kernels, host, calls of each group, what runs beside slots.
std::vector<TimelineTrack> timeline_of(const SimulatedStep& step);

/// Perfetto's TrackEvent protobuf; Chrome's JSON. What a timeline's files may have at most.
std::string perfetto_bytes(const std::vector<TimelineTrack>& tracks,
                           const std::vector<TimelineCounter>& counters);
std::string chrome_json(const std::vector<TimelineTrack>& tracks,
                        const std::vector<TimelineCounter>& counters);
constexpr std::int64_t kMostTimelineEvents = 2'000'000;

}  // namespace headway
