// A simulated step as what viewers of traces show: events on tracks, a process for each rank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/ranks/ranks.hpp"
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
  std::int64_t rank = 0;  // of the pipeline, or of the run
  std::string name;
  std::vector<TimelineEvent> events;
};

/// How many events a timeline has: kernels, calls and slots of all ranks.
std::int64_t count_events(const SimulatedStep& step);
/// Tracks rank after rank: slots, kernels, host, calls of each group, what runs beside slots.
std::vector<TimelineTrack> timeline_of(const SimulatedStep& step);

/// The same of every rank of the run, of a step that was placed with its spans.
std::int64_t count_events(const RankedStep& step);
std::vector<TimelineTrack> timeline_of(const RankedStep& step, const RanksWork& work);
/// Slots of all ranks, before any is placed: no timeline has fewer events.
std::int64_t count_slots(const RanksWork& work);

/// Perfetto's TrackEvent protobuf; Chrome's JSON. What a timeline's files may have at most.
/// `process`: what a rank of the tracks is called.
std::string perfetto_bytes(const std::vector<TimelineTrack>& tracks,
                           const std::vector<TimelineCounter>& counters,
                           std::string_view process = "stage");
std::string chrome_json(const std::vector<TimelineTrack>& tracks,
                        const std::vector<TimelineCounter>& counters,
                        std::string_view process = "stage");
constexpr std::int64_t kMostTimelineEvents = 2'000'000;

}  // namespace headway
