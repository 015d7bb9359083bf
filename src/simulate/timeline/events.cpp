#include "simulate/timeline/events.hpp"

#include "simulate/timeline/tracks.hpp"

namespace headway {
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
    RankTracks tracks(rank);
    const auto& spans = step.ranks[r].spans;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const StepSpan& span = spans[i];
      TimelineEvent event{nanoseconds(span.begin), nanoseconds(span.end), span.name, {}, 0};
      if (span.kind == StepSpan::Kind::once) {
        tracks.add(span.beside ? span.name : stream_name(span.stream), std::move(event));
        continue;
      }
      const auto received = receives.find({rank, i});
      const auto sent = sends.find({rank, i});
      event.name = slot_name(span.work, span.micro_batch, span.chunk, step.pipeline.chunks());
      if (received != receives.end()) event.receives = received->second;
      if (sent != sends.end()) event.sends = sent->second;
      tracks.add_slot(std::move(event), *span.program);
    }
    for (TimelineTrack& track : std::move(tracks).take()) out.push_back(std::move(track));
  }
  return out;
}

}  // namespace headway
