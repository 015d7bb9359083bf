// A step of ranks that differ as events: those of a cell do the same, each is a process of its own.
#include <map>
#include <tuple>

#include "simulate/timeline/events.hpp"
#include "simulate/timeline/tracks.hpp"

namespace headway {
namespace {

std::size_t cell_of(const RankedStep& step, const CellSpan& span) {
  return static_cast<std::size_t>(span.stage * step.lanes + span.lane);
}

// Ranks of each cell.
std::int64_t ranks_of_cell(const RankedStep& step) {
  return static_cast<std::int64_t>(step.ranks.size() / step.cells.size());
}

// Transfers between the slots of two stages: an arrow for each rank of the cells, numbered on from
// that of the first.
class Arrows {
 public:
  Arrows(const RankedStep& step, const Pipeline& pipeline)
      : each_(static_cast<std::uint64_t>(ranks_of_cell(step))), ends_(step.spans.size()) {
    std::map<Arrival, std::uint64_t> on_the_way;
    for (std::size_t i = 0; i < step.spans.size(); ++i) {
      const CellSpan& span = step.spans[i];
      if (span.program == nullptr) continue;
      const auto made = handoff(pipeline, span.stage, span.slot);
      if (!made || made->to.rank == span.stage) continue;
      ends_[i].sends = next_;
      on_the_way[{made->to.rank, made->to.chunk, span.micro_batch, made->is_gradient, span.lane}] =
          next_;
      next_ += each_;
    }
    for (std::size_t i = 0; i < step.spans.size(); ++i) {
      const CellSpan& span = step.spans[i];
      if (span.program == nullptr || span.slot.work == SlotWork::weight_gradient) continue;
      const auto sent =
          on_the_way.find({span.stage, static_cast<std::int64_t>(span.slot.chunk), span.micro_batch,
                           span.slot.work != SlotWork::forward, span.lane});
      if (sent != on_the_way.end()) ends_[i].receives = sent->second;
    }
  }

  /// The arrows of the `rank`-th rank of the span's cell.
  void add(std::size_t span, std::size_t rank, TimelineEvent& to) const {
    if (ends_[span].sends != 0) to.sends.push_back(ends_[span].sends + rank);
    if (ends_[span].receives != 0) to.receives = ends_[span].receives + rank;
  }

 private:
  using Arrival = std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, std::int64_t>;
  struct Ends {
    std::uint64_t sends = 0, receives = 0;  // 0: none
  };
  std::uint64_t each_, next_ = 1;
  std::vector<Ends> ends_;  // of each span
};

}  // namespace

std::int64_t count_slots(const RanksWork& work) {
  const Pipeline& pipeline = work.usual.pipeline;
  return 2 * pipeline.micro_batches_of_copy() * pipeline.chunks() * work.run.layout.ranks();
}

std::int64_t count_events(const RankedStep& step) {
  std::int64_t out = 0;
  for (const CellSpan& span : step.spans) {
    out += 1;
    if (span.program != nullptr) {
      out += static_cast<std::int64_t>(span.program->list.tasks().size());
    }
  }
  return out * ranks_of_cell(step);
}

std::vector<TimelineTrack> timeline_of(const RankedStep& step, const RanksWork& work) {
  const Pipeline& pipeline = work.usual.pipeline;
  const Arrows arrows(step, pipeline);
  std::vector<std::vector<std::size_t>> of_cell(step.cells.size());
  for (std::size_t i = 0; i < step.spans.size(); ++i) {
    of_cell[cell_of(step, step.spans[i])].push_back(i);
  }
  std::vector<std::vector<TimelineTrack>> by_rank(step.ranks.size());
  for (std::size_t cell = 0; cell < of_cell.size(); ++cell) {
    const auto stage = static_cast<std::int64_t>(cell) / step.lanes;
    const auto lane = static_cast<std::int64_t>(cell) % step.lanes;
    const std::vector<std::int64_t> ranks = ranks_of(stage, lane, work.run.layout);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      RankTracks tracks(ranks[r]);
      for (const std::size_t i : of_cell[cell]) {
        const CellSpan& span = step.spans[i];
        TimelineEvent event{nanoseconds(span.begin), nanoseconds(span.end), span.name, {}, 0};
        if (span.program == nullptr) {
          tracks.add(span.beside ? span.name : stream_name(span.stream), std::move(event));
          continue;
        }
        event.name = slot_name(span.slot.work, span.micro_batch,
                               static_cast<std::int64_t>(span.slot.chunk), pipeline.chunks());
        arrows.add(i, r, event);
        tracks.add_slot(std::move(event), *span.program);
      }
      by_rank[static_cast<std::size_t>(ranks[r])] = std::move(tracks).take();
    }
  }
  std::vector<TimelineTrack> out;
  for (std::vector<TimelineTrack>& tracks : by_rank) {
    for (TimelineTrack& track : tracks) out.push_back(std::move(track));
  }
  return out;
}

}  // namespace headway
