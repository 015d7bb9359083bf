#include "forecast/pipeline_time.hpp"

#include <algorithm>

#include "forecast/longest_way.hpp"

namespace headway {

std::size_t slowest(const std::vector<StageTime>& stages) {
  std::size_t out = 0;
  for (std::size_t i = 1; i < stages.size(); ++i) {
    if (stages[i].total() + stages[i].transfers > stages[out].total() + stages[out].transfers) {
      out = i;
    }
  }
  return out;
}

namespace {

// Every rank's time for one micro-batch in each of its chunks: equal parts of it where they are
// alike.
SlotTimes slot_times(const Pipeline& pipeline, const std::vector<StageTime>& stages, Seconds send) {
  SlotTimes out;
  const double share =
      static_cast<double>(pipeline.copies()) / static_cast<double>(pipeline.chunks());
  for (const StageTime& stage : stages) {
    const ChunkTime chunk{stage.forward * share, stage.backward * share,
                          stage.weight_gradient * share};
    for (std::int64_t rank = 0; rank < stage.stages; ++rank) {
      if (stage.chunks.empty()) {
        out.chunks.insert(out.chunks.end(), static_cast<std::size_t>(pipeline.chunks()), chunk);
      } else {
        out.chunks.insert(out.chunks.end(), stage.chunks.begin(), stage.chunks.end());
      }
    }
  }
  out.send = send;
  return out;
}

// What ranks take of a chunk, with what they wait for of its transfers. The first one sends forward
// and the last one backward alone.
std::vector<RankClass> rank_classes(const std::vector<StageTime>& stages, const Layout& layout,
                                    Seconds send) {
  std::vector<RankClass> out;
  out.reserve(stages.size());
  const double chunks = static_cast<double>(layout.vpp);
  for (const StageTime& stage : stages) {
    const bool first = &stage == &stages.front(), last = &stage == &stages.back();
    const double forward = last && !first ? chunks - 1 : chunks;
    const Seconds waits = stage.sends > 0 ? stage.transfers / stage.sends : Seconds(0);
    out.push_back({stage.stages, (stage.forward + forward * waits) / chunks,
                   (stage.backward + (stage.sends - forward) * waits) / chunks, send - waits});
  }
  return out;
}

// [FORECAST-19] With the vocabulary split over stages a micro-batch's gradient waits until all
// stages have run their parts, each behind the chunk that it is at; else the slowest stage waits
// while the others pass the first micro-batch on to it and the last gradient back.
Seconds bubble_of_split_vocabulary(const std::vector<StageTime>& stages, const Layout& layout,
                                   double micro_batches, Seconds send) {
  const StageTime& pace = stages[slowest(stages)];
  const double pp = static_cast<double>(layout.pp), vpp = static_cast<double>(layout.vpp);
  Seconds others(0);
  for (const StageTime& stage : stages) {
    const double count = static_cast<double>(stage.stages - (&stage == &pace ? 1 : 0));
    others += count * stage.in_turn();
  }
  const Seconds waiting = pace.in_turn() / vpp;
  // The first activation and the last gradient cross every boundary.
  const Seconds filled = others / vpp + waiting + 2 * (pp - 1) * send;
  if (layout.vpp == 1) return filled;
  const Seconds first = others + pace.total() + waiting + 2 * (pp * vpp - 1) * send;
  const Seconds busy = pace.total() + pace.transfers;
  return std::max(filled, first + ((micro_batches - 1) / vpp - micro_batches) * busy);
}

// [FORECAST-1] Seconds from the first slot of 1F1B or GPipe to the end of the last.
Seconds time_in_turn(const std::vector<StageTime>& stages, const Layout& layout,
                     std::int64_t micro_batches, Seconds send) {
  const std::vector<RankClass> ranks = rank_classes(stages, layout, send);
  if (layout.schedule == Schedule::gpipe) return gpipe_time(ranks, micro_batches);
  const Seconds way = one_f_one_b_time(ranks, layout.vpp, micro_batches);
  if (layout.vpp == 1) return way;
  // Fewer micro-batches than ranks do not fill the time until the first of them comes back to a
  // rank's next chunk: it goes through all chunks of all ranks, and the others follow behind it by
  // a chunk each, with what of the chunk's transfers nothing hides.
  Seconds once(0);
  for (const StageTime& stage : stages) once += static_cast<double>(stage.stages) * stage.total();
  const StageTime& pace = stages[slowest(stages)];
  const double vpp = static_cast<double>(layout.vpp);
  const double hops = 2 * (static_cast<double>(layout.pp) * vpp - 1);
  const double behind = static_cast<double>(micro_batches - 1) / vpp;
  return std::max(way, once + hops * send + behind * (pace.total() + pace.transfers));
}

}  // namespace

bool places_slots(const Layout& layout, std::int64_t micro_batches, bool chunks_differ) {
  if (is_placed(layout.schedule)) return true;
  const bool has_order = layout.schedule != Schedule::one_f_one_b || micro_batches % layout.pp == 0;
  return chunks_differ && has_order && !layout.split_vocabulary;
}

Seconds bubble_time(const std::vector<StageTime>& stages, const Layout& layout,
                    std::int64_t micro_batches, Seconds send) {
  if (layout.pp == 1) return Seconds(0);
  // [METHOD-2] No stage waits for what comes back, from one step to the next.
  if (layout.losses != Losses::model) return Seconds(0);
  const StageTime& pace = stages[slowest(stages)];
  const double m = static_cast<double>(micro_batches);
  if (!places_slots(layout, micro_batches, !stages.front().chunks.empty())) {
    if (pace.vocabulary > Seconds(0)) {
      return bubble_of_split_vocabulary(stages, layout, m, send);
    }
    const Seconds busy = pace.total() + pace.transfers;
    return std::max(Seconds(0), time_in_turn(stages, layout, micro_batches, send) - m * busy);
  }
  // [FORECAST-2] to [FORECAST-4], by the slots.
  const Pipeline pipeline = pipeline_of(layout, micro_batches);
  const Seconds placed = placed_time(pipeline, slot_times(pipeline, stages, send));
  return std::max(Seconds(0), placed - m * pace.total());
}

Seconds least_bubble(const std::vector<StageTime>& stages, const Layout& layout,
                     std::int64_t micro_batches) {
  if (layout.pp == 1 || is_placed(layout.schedule) || stages.front().chunks.empty()) return {};
  if (layout.losses != Losses::model) return {};
  const double m = static_cast<double>(micro_batches);
  Seconds before(0), longest(0);
  for (const StageTime& stage : stages) {
    const ChunkTime& first = stage.chunks.front();
    const Seconds one = first.forward + first.backward;
    // The last of the class has most before it.
    before += static_cast<double>(stage.stages - 1) * one;
    longest = std::max(longest, before + m * stage.total());
    before += one;
  }
  return longest - m * stages[slowest(stages)].total();
}

std::vector<PlacedSlot> pipeline_slots(const std::vector<StageTime>& stages, const Layout& layout,
                                       std::int64_t micro_batches, Seconds send) {
  const Pipeline pipeline = pipeline_of(layout, micro_batches);
  SlotTimes times = slot_times(pipeline, stages, send);
  times.blocking = layout.vpp == 1 && !is_placed(layout.schedule);
  return placed_slots(pipeline, times);
}

}  // namespace headway
