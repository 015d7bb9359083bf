// The tracks of one rank, as they come together. Internal to src/simulate/timeline.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/timeline/events.hpp"

namespace headway {

/// "forward 3, chunk 1"; chunks are told where there are several.
std::string slot_name(SlotWork work, std::int64_t micro_batch, std::int64_t chunk,
                      std::int64_t chunks);

class RankTracks {
 public:
  explicit RankTracks(std::int64_t rank);

  /// A slot, with what it runs on the tracks of their streams: where it waited within itself, or
  /// was slowed, that is drawn as evenly longer.
  void add_slot(TimelineEvent slot, const SlotProgram& program);
  void add(std::string_view track, TimelineEvent event);

  /// In order, each from the end of the one before it; those without an event are left out.
  std::vector<TimelineTrack> take() &&;

 private:
  TimelineTrack& track(std::string_view name);

  std::int64_t rank_;
  std::vector<TimelineTrack> tracks_;
  std::map<std::string, std::size_t, std::less<>> place_;
};

/// Of a timeline.
std::int64_t nanoseconds(Seconds time);

}  // namespace headway
