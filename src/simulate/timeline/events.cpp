#include "simulate/timeline/events.hpp"

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

std::int64_t nanoseconds(Seconds time) {
  return std::llround(time.value() * 1e9);
}

std::string slot_name(const StepSpan& span, const Pipeline& pipeline) {
  std::string out(kSlotWorkNames[static_cast<std::size_t>(span.work)]);
  out += " " + std::to_string(span.micro_batch);
  if (pipeline.chunks() > 1) out += ", chunk " + std::to_string(span.chunk);
  return out;
}

// The tracks of one rank.
class RankTracks {
 public:
  RankTracks(const SimulatedStep& step, std::int64_t rank) : step_(step), rank_(rank) {
    track("slots");
    for (StreamId stream = 0; stream < kStreams; ++stream) track(std::string(stream_name(stream)));
  }

  void add(const StepSpan& span, std::uint64_t receives, std::vector<std::uint64_t> sends) {
    if (span.kind == StepSpan::Kind::once) {
      const std::string name(span.beside ? span.name : std::string(stream_name(span.stream)));
      track(name).events.push_back(
          {nanoseconds(span.begin), nanoseconds(span.end), span.name, {}, 0});
      return;
    }
    track("slots").events.push_back({nanoseconds(span.begin), nanoseconds(span.end),
                                     slot_name(span, step_.pipeline), std::move(sends), receives});
    // A slot that waited within itself, or was slowed, is drawn as evenly longer.
    const SlotProgram& program = *span.program;
    if (!(program.time > Seconds(0))) return;
    const double longer = (span.end - span.begin) / program.time;
    const auto tasks = program.list.tasks();
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const PlacedTask& placed = program.placed[i];
      if (!(placed.end > placed.begin)) continue;
      track(std::string(stream_name(tasks[i].stream)))
          .events.push_back({nanoseconds(span.begin + placed.begin * longer),
                             nanoseconds(span.begin + placed.end * longer),
                             program.list.name_of(tasks[i]),
                             {},
                             0});
    }
  }

  // In order, each from the end of the one before it.
  std::vector<TimelineTrack> take() && {
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

 private:
  TimelineTrack& track(const std::string& name) {
    const auto [at, is_new] = place_.try_emplace(name, tracks_.size());
    if (is_new) tracks_.push_back({rank_, name, {}});
    return tracks_[at->second];
  }

  const SimulatedStep& step_;
  std::int64_t rank_;
  std::vector<TimelineTrack> tracks_;
  std::map<std::string, std::size_t> place_;
};

}  // namespace

std::int64_t count_events(const SimulatedStep& step) {
  std::int64_t out = 0;
  for (const RankTimeline& rank : step.ranks) {
    for (const StepSpan& span : rank.spans) {
      out += 1;
      if (span.program) out += static_cast<std::int64_t>(span.program->list.tasks().size());
    }
  }
  return out;
}

std::vector<TimelineTrack> timeline_of(const SimulatedStep& step) {
  // Transfers that a slot waited for, by where they come from.
  std::map<std::pair<std::int64_t, std::size_t>, std::vector<std::uint64_t>> sends;
  std::map<std::pair<std::int64_t, std::size_t>, std::uint64_t> receives;
  std::uint64_t next = 1;
  for (std::size_t r = 0; r < step.ranks.size(); ++r) {
    const auto& spans = step.ranks[r].spans;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      if (!(spans[i].came > Seconds(0))) continue;
      sends[{spans[i].cause_rank, spans[i].cause}].push_back(next);
      receives[{static_cast<std::int64_t>(r), i}] = next++;
    }
  }
  std::vector<TimelineTrack> out;
  for (std::size_t r = 0; r < step.ranks.size(); ++r) {
    const auto rank = static_cast<std::int64_t>(r);
    RankTracks tracks(step, rank);
    const auto& spans = step.ranks[r].spans;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const auto received = receives.find({rank, i});
      const auto sent = sends.find({rank, i});
      tracks.add(spans[i], received == receives.end() ? 0 : received->second,
                 sent == sends.end() ? std::vector<std::uint64_t>() : sent->second);
    }
    for (TimelineTrack& track : std::move(tracks).take()) out.push_back(std::move(track));
  }
  return out;
}

}  // namespace headway
