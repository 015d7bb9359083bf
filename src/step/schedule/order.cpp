#include "step/schedule/order.hpp"

#include <algorithm>

#include "step/schedule/families.hpp"

namespace headway {

void RankOrder::add(std::initializer_list<Slot> block, std::int64_t times, bool steady) {
  add(std::vector<Slot>(block), times, steady);
}

void RankOrder::add(const std::vector<Slot>& block, std::int64_t times, bool steady) {
  if (times <= 0 || block.empty()) return;
  const std::size_t begin = slots.size();
  slots.insert(slots.end(), block.begin(), block.end());
  runs.push_back({begin, slots.size(), times, steady});
}

std::int64_t Pipeline::chunks() const {
  return chunks_of_rank(schedule, virtual_stages);
}

std::int64_t Pipeline::copies() const {
  return copies_of_model(schedule);
}

Pipeline pipeline_of(const Layout& layout, std::int64_t micro_batches) {
  return {layout.schedule, layout.pp, layout.vpp, micro_batches, layout.losses};
}

std::int64_t Pipeline::stage(std::int64_t rank, std::int64_t chunk) const {
  if (is_folded(schedule)) return chunk == 0 ? rank : 2 * ranks - 1 - rank;
  if (copies() == 2) return chunk == 0 ? rank : ranks - 1 - rank;
  return chunk * ranks + rank;
}

ChunkOfRank holder(const Pipeline& pipeline, std::int64_t copy, std::int64_t stage) {
  const std::int64_t p = pipeline.ranks;
  if (is_folded(pipeline.schedule)) {
    return stage < p ? ChunkOfRank{stage, 0} : ChunkOfRank{2 * p - 1 - stage, 1};
  }
  if (pipeline.copies() == 2) return {copy == 0 ? stage : p - 1 - stage, copy};
  return {stage % p, stage / p};
}

std::optional<Handoff> handoff(const Pipeline& pipeline, std::int64_t rank, const Slot& slot) {
  if (slot.work == SlotWork::weight_gradient) return std::nullopt;
  const bool forward = slot.work == SlotWork::forward;
  if (pipeline.losses != Losses::model) {
    return forward ? std::optional(Handoff{{rank, slot.chunk}, true}) : std::nullopt;
  }
  const std::int64_t stage = pipeline.stage(rank, slot.chunk);
  if (pipeline.forward_only && stage + 1 == pipeline.stages()) return std::nullopt;
  const std::int64_t copy = pipeline.copies() == 2 ? slot.chunk : 0;
  if (forward && stage + 1 == pipeline.stages())
    return Handoff{holder(pipeline, copy, stage), true};
  if (forward) return Handoff{holder(pipeline, copy, stage + 1), false};
  if (stage == 0) return std::nullopt;
  return Handoff{holder(pipeline, copy, stage - 1), true};
}

RankOrder rank_order(const Pipeline& pipeline, std::int64_t rank) {
  const std::int64_t p = pipeline.ranks, m = pipeline.micro_batches;
  const std::int64_t v = pipeline.virtual_stages;
  if (pipeline.forward_only) return all_forward(m, v);
  // As the last stage: back at once; of pairs when the next stage has gone forward.
  if (pipeline.losses != Losses::model) {
    return one_f_one_b(p, p - (pipeline.losses == Losses::of_pairs && p > 1 ? 2 : 1), m);
  }
  switch (pipeline.schedule) {
    case Schedule::gpipe:
    case Schedule::breadth_first:
      return fill_and_drain(m, v);
    case Schedule::one_f_one_b:
      return v == 1 ? one_f_one_b(p, rank, m) : interleaved(p, rank, m, v);
    case Schedule::zero_bubble:
      return zero_bubble(m, p - 1 - rank, rank);
    case Schedule::zero_bubble_h2:
      return zero_bubble(m, 2 * (p - 1 - rank), 2 * rank);
    case Schedule::zero_bubble_v:
      return zero_bubble_v(p, rank, std::max(m, 2 * p - 1));
    case Schedule::dual_pipe: {
      const bool down = rank < p / 2;  // its near direction
      return dual_pipe(
          {p / 2, down ? rank : p - 1 - rank, down ? std::uint8_t{0} : std::uint8_t{1}}, m / 2);
    }
    case Schedule::dual_pipe_v:
      return dual_pipe({p, rank, 0}, m);
    case Schedule::chimera:
      return chimera(p, rank, m);
  }
  return {};
}

std::vector<Slot> unrolled(const RankOrder& order) {
  std::vector<Slot> out;
  for (const SlotRun& run : order.runs) {
    for (std::int64_t i = 0; i < run.times; ++i) {
      out.insert(out.end(), order.slots.begin() + static_cast<std::ptrdiff_t>(run.begin),
                 order.slots.begin() + static_cast<std::ptrdiff_t>(run.end));
    }
  }
  return out;
}

}  // namespace headway
