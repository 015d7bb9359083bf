#include "forecast/pipeline_time.hpp"

#include <algorithm>

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

// Every rank's time for one micro-batch in each of its chunks, equal parts of it.
SlotTimes slot_times(const Pipeline& pipeline, const std::vector<StageTime>& stages, Seconds send) {
  SlotTimes out;
  const double share =
      static_cast<double>(pipeline.copies()) / static_cast<double>(pipeline.chunks());
  for (const StageTime& stage : stages) {
    const ChunkTime chunk{stage.forward * share, stage.backward * share,
                          stage.weight_gradient * share};
    out.chunks.insert(out.chunks.end(), static_cast<std::size_t>(stage.stages * pipeline.chunks()),
                      chunk);
  }
  out.send = send;
  return out;
}

}  // namespace

Seconds bubble_time(const std::vector<StageTime>& stages, const Layout& layout,
                    std::int64_t micro_batches, Seconds send) {
  if (layout.pp == 1) return Seconds(0);
  const std::size_t pace = slowest(stages);
  const Seconds paced = stages[pace].total();
  const Seconds busy = paced + stages[pace].transfers;
  const double m = static_cast<double>(micro_batches);
  const double pp = static_cast<double>(layout.pp);
  const double vpp = static_cast<double>(layout.vpp);
  // Sum over all stages but one of the slowest.
  const auto others = [&](auto&& idle) {
    Seconds sum(0);
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const std::int64_t count = stages[i].stages - (i == pace ? 1 : 0);
      sum += static_cast<double>(count) * std::max(Seconds(0), idle(stages[i]));
    }
    return sum;
  };
  // The first activation and the last gradient cross every boundary.
  const Seconds hops = 2 * (pp - 1) * send;
  switch (layout.schedule) {
    case Schedule::gpipe:
    case Schedule::one_f_one_b: {
      // [FORECAST-1] The slowest stage waits while the others pass the first micro-batch on to it
      // and the last gradient back; with vpp chunks a rank they do so with a chunk each. Equal
      // stages: (pp - 1)/(vpp · m) of the work, arXiv 2104.04473 §2.2.
      const Seconds whole = others([](const StageTime& s) { return s.in_turn(); });
      // [FORECAST-19] With the vocabulary split over stages a micro-batch's gradient waits until
      // all stages have run their parts, each behind the chunk that it is at.
      const bool split = stages[pace].vocabulary > Seconds(0);
      const Seconds waiting = split ? stages[pace].in_turn() / vpp : Seconds(0);
      const Seconds filled = whole / vpp + waiting + hops;
      if (layout.vpp == 1) return filled;
      // Fewer micro-batches than stages do not fill the time until the first of them comes back to
      // a rank's next chunk: it goes through all chunks of all ranks, and the others follow behind
      // it by a chunk each, with what of the chunk's transfers nothing hides.
      const Seconds first = whole + paced + waiting + 2 * (pp * vpp - 1) * send;
      return std::max(filled, first + ((m - 1) / vpp - m) * busy);
    }
    default:  // [FORECAST-2] to [FORECAST-4], by the slots
      break;
  }
  const Pipeline pipeline = pipeline_of(layout, micro_batches);
  const Seconds placed = placed_time(pipeline, slot_times(pipeline, stages, send));
  return std::max(Seconds(0), placed - m * paced);
}

std::vector<PlacedSlot> pipeline_slots(const std::vector<StageTime>& stages, const Layout& layout,
                                       std::int64_t micro_batches, Seconds send) {
  const Pipeline pipeline = pipeline_of(layout, micro_batches);
  SlotTimes times = slot_times(pipeline, stages, send);
  times.blocking = layout.vpp == 1 && !is_placed(layout.schedule);
  return placed_slots(pipeline, times);
}

}  // namespace headway
