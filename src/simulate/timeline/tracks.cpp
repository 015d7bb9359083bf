#include "simulate/timeline/tracks.hpp"

#include <algorithm>
#include <cmath>

namespace headway {

std::int64_t nanoseconds(Seconds time) {
  return std::llround(time.value() * 1e9);
}

std::string slot_name(SlotWork work, std::int64_t micro_batch, std::int64_t chunk,
                      std::int64_t chunks) {
  std::string out(kSlotWorkNames[static_cast<std::size_t>(work)]);
  out += " " + std::to_string(micro_batch);
  if (chunks > 1) out += ", chunk " + std::to_string(chunk);
  return out;
}

RankTracks::RankTracks(std::int64_t rank) : rank_(rank) {
  track("slots");
  for (StreamId stream = 0; stream < kStreams; ++stream) track(stream_name(stream));
}

void RankTracks::add_slot(TimelineEvent slot, const SlotProgram& program) {
  const std::int64_t begin = slot.begin, length = slot.end - slot.begin;
  add("slots", std::move(slot));
  if (!(program.time > Seconds(0))) return;
  const auto at = [&](Seconds time) {
    return begin + std::llround(static_cast<double>(length) * (time / program.time));
  };
  const auto tasks = program.list.tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const PlacedTask& placed = program.placed[i];
    if (!(placed.end > placed.begin)) continue;
    add(stream_name(tasks[i].stream),
        {at(placed.begin), at(placed.end), program.list.name_of(tasks[i]), {}, 0});
  }
}

void RankTracks::add(std::string_view name, TimelineEvent event) {
  track(name).events.push_back(std::move(event));
}

std::vector<TimelineTrack> RankTracks::take() && {
  std::vector<TimelineTrack> out;
  for (TimelineTrack& each : tracks_) {
    if (each.events.empty()) continue;
    std::stable_sort(
        each.events.begin(), each.events.end(),
        [](const TimelineEvent& a, const TimelineEvent& b) { return a.begin < b.begin; });
    std::int64_t free = 0;
    for (TimelineEvent& event : each.events) {
      event.begin = std::max(event.begin, free);
      event.end = std::max(event.end, event.begin);
      free = event.end;
    }
    out.push_back(std::move(each));
  }
  return out;
}

TimelineTrack& RankTracks::track(std::string_view name) {
  const auto known = place_.find(name);
  if (known != place_.end()) return tracks_[known->second];
  place_.emplace(name, tracks_.size());
  return tracks_.emplace_back(TimelineTrack{rank_, std::string(name), {}});
}

}  // namespace headway
