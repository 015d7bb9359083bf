#include "simulate/step/simulated.hpp"

#include <algorithm>

#include "forecast/assembly.hpp"
#include "simulate/step/slots.hpp"

namespace headway {
namespace {

// The span of a rank that ends last, of those that others follow.
std::size_t last_span(const RankTimeline& rank) {
  std::size_t out = rank.spans.size();
  for (std::size_t i = 0; i < rank.spans.size(); ++i) {
    if (rank.spans[i].beside) continue;
    if (out == rank.spans.size() || rank.spans[i].end >= rank.spans[out].end) out = i;
  }
  return out;
}

// The class of stages that a rank is of.
const StageClass& class_of(const Step& step, std::int64_t rank) {
  for (const StageClass& stage : step.stages) {
    if (rank < stage.first + stage.stages) return stage;
  }
  return step.stages.back();
}

std::vector<RankWork> work_of_ranks(const Run& run, const PricedStep& priced,
                                    const Pipeline& pipeline) {
  const std::vector<ChunkBlocks> chunks = blocks_of_chunks(run, priced.step);
  SlotPrograms programs(priced);
  std::vector<RankWork> out(static_cast<std::size_t>(pipeline.ranks));
  for (std::int64_t r = 0; r < pipeline.ranks; ++r) {
    RankWork& work = out[static_cast<std::size_t>(r)];
    SlotsOfRank slots;
    for (std::int64_t c = 0; c < pipeline.chunks(); ++c) {
      const ChunkBlocks& blocks = chunks[static_cast<std::size_t>(pipeline.stage(r, c))];
      auto& of_chunk = work.chunks.emplace_back();
      for (const SlotWork each : {SlotWork::forward, SlotWork::backward, SlotWork::input_gradient,
                                  SlotWork::weight_gradient}) {
        of_chunk[static_cast<std::size_t>(each)] = programs.get(blocks, each);
      }
      slots.forward += of_chunk[0]->time;
      slots.backward += of_chunk[1]->time;
    }
    const auto each = static_cast<double>(pipeline.chunks() / pipeline.copies());
    slots.forward /= static_cast<double>(pipeline.copies());
    slots.backward /= static_cast<double>(pipeline.copies());
    slots.half = (slots.forward + slots.backward) * 0.5 / each;
    slots.count = 2 * static_cast<double>(pipeline.micro_batches_of_copy() * pipeline.chunks());
    work.once = once_a_step(class_of(priced.step, r), priced.blocks, priced.step.held,
                            priced.prices, slots);
  }
  return out;
}

// What follows a rank's slots, where calls that several stages take part in begin when the last of
// them is there.
class AfterAll {
 public:
  AfterAll(const Pipeline& pipeline, const std::vector<RankWork>& work,
           std::vector<RankTimeline>& ranks)
      : pipeline_(pipeline), work_(work), ranks_(ranks), at_(work.size(), 0) {
    for (std::size_t r = 0; r < work.size(); ++r) {
      last_.push_back(last_span(ranks[r]));
    }
  }

  void run() {
    bool runs = true;
    while (runs) {
      runs = false;
      for (std::size_t r = 0; r < work_.size(); ++r) {
        while (at_[r] < work_[r].once.after.size() && step(r)) runs = true;
      }
    }
    for (std::size_t r = 0; r < work_.size(); ++r) ranks_[r].end = end_of(r);
  }

 private:
  Seconds end_of(std::size_t r) const { return ranks_[r].spans[last_[r]].end; }

  // The call of this group that it is, of the rank's: the first, the second ...
  std::size_t number(std::size_t r, std::size_t at) const {
    const auto& after = work_[r].once.after;
    return static_cast<std::size_t>(
        std::count_if(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(at),
                      [&](const AfterSlots& each) { return each.meets == after[at].meets; }));
  }

  // Whether the other rank takes part in the call, and where it stands there.
  std::optional<std::size_t> place_in(std::size_t other, std::size_t r, std::size_t at) const {
    const auto& after = work_[other].once.after;
    const Group group = *work_[r].once.after[at].meets;
    const std::size_t p = work_.size();
    if (group == Group::copies && other != r && other + r + 1 != p) return std::nullopt;
    std::size_t left = number(r, at);
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (after[i].meets == group && left-- == 0) return i;
    }
    return std::nullopt;
  }

  bool step(std::size_t r) {
    const AfterSlots& item = work_[r].once.after[at_[r]];
    std::size_t latest = r;
    if (item.meets) {
      for (std::size_t other = 0; other < work_.size(); ++other) {
        const auto there = place_in(other, r, at_[r]);
        if (!there || at_[other] > *there) continue;  // it has left already, at the same time
        if (at_[other] < *there) return false;
        if (end_of(other) > end_of(latest)) latest = other;
      }
      return meet(r, latest);
    }
    add(r, item, r, last_[r], end_of(r));
    ++at_[r];
    return true;
  }

  // All that take part begin together.
  bool meet(std::size_t r, std::size_t latest) {
    const std::size_t at = at_[r];
    const Seconds begin = end_of(latest);
    const std::size_t cause = last_[latest];
    std::vector<std::size_t> members;
    for (std::size_t other = 0; other < work_.size(); ++other) {
      const auto there = place_in(other, r, at);
      if (there && at_[other] == *there) members.push_back(other);
    }
    for (const std::size_t other : members) {
      add(other, work_[other].once.after[at_[other]], latest, cause, begin);
      ++at_[other];
    }
    return true;
  }

  void add(std::size_t r, const AfterSlots& item, std::size_t cause_rank, std::size_t cause,
           Seconds begin) {
    StepSpan span;
    span.kind = StepSpan::Kind::once;
    span.name = item.name;
    span.stream = item.stream;
    span.begin = begin;
    span.end = begin + item.time;
    span.parts[item.part] = item.time;
    span.cause_rank = static_cast<std::int64_t>(cause_rank);
    span.cause = cause;
    ranks_[r].spans.push_back(std::move(span));
    last_[r] = ranks_[r].spans.size() - 1;
  }

  const Pipeline& pipeline_;
  const std::vector<RankWork>& work_;
  std::vector<RankTimeline>& ranks_;
  std::vector<std::size_t> at_, last_;
};

// From the last end back to the beginning.
Parts critical(const std::vector<RankTimeline>& ranks, std::size_t last) {
  Parts out{};
  std::size_t rank = last;
  std::size_t at = last_span(ranks[last]);
  while (true) {
    const StepSpan& span = ranks[rank].spans[at];
    for (const PartRow& row : kParts) {
      out[row.part] += span.parts[row.part];
      if (!span.program) continue;
      out[row.part] += span.program->critical[row.part] - span.program->parts[row.part];
    }
    out.pp += span.came;
    if (span.cause_rank < 0) return out;
    rank = static_cast<std::size_t>(span.cause_rank);
    at = span.cause;
  }
}

void add_parts(const Seconds& placed, RankTimeline& rank) {
  for (const StepSpan& span : rank.spans) {
    if (span.beside) continue;
    for (const PartRow& row : kParts) rank.parts[row.part] += span.parts[row.part];
  }
  // Sums of the same terms in another order differ in their last digits.
  const Seconds waits = placed - rank.parts.total();
  if (waits > 1e-12 * placed) rank.parts.bubble += waits;
}

}  // namespace

Problems simulation_problems(const Run& run) {
  Problems out;
  const Layout& layout = run.layout;
  if (layout.pp > 1 && layout.split_vocabulary) {
    out.push_back({FieldName("split-vocabulary"),
                   "passes of a vocabulary that is split over stages are not placed in time",
                   Trouble::unsupported});
  }
  const std::int64_t passes = micro_batches(run.job, layout) * chunks_of_model(layout);
  if (passes > kMostPlacedPasses) {
    out.push_back({FieldName("global-batch"),
                   "makes " + std::to_string(passes) +
                       " forward passes of micro-batches through chunks; at most " +
                       std::to_string(kMostPlacedPasses) + " are placed in time",
                   Trouble::unsupported});
  }
  return out;
}

// [SIM-9] Equal to the forecast where nothing runs beside anything else: without a pipeline, and
// until the last slot of stages in turn.
SimulatedStep simulate_step(const Run& run, const Calibration& calibration,
                            const StepChange& change) {
  // What there is to do, and what it takes.
  Step step = lower(run);
  if (change.program) change.program(step);
  const Prices prices{run.job,    run.layout, run.cluster,  calibration,
                      step.spans, nullptr,    &change.times};
  PricedStep priced{step, prices, {}};
  std::vector<PricedCall> calls;
  for (const Block& block : step.blocks) priced.blocks.push_back(price_block(block, prices, calls));

  // Every slot, then what comes once a step.
  SimulatedStep out;
  out.pipeline = run.layout.pp > 1 ? pipeline_of(run.layout, step.micro_batches)
                                   : Pipeline{Schedule::one_f_one_b, 1, 1, step.micro_batches};
  const std::vector<RankWork> work = work_of_ranks(run, priced, out.pipeline);
  const bool blocking = run.layout.vpp == 1 && !is_placed(run.layout.schedule);
  place_slots(out.pipeline, work, {blocking, calibration.shared.interference}, out.ranks);
  AfterAll(out.pipeline, work, out.ranks).run();
  out.send = work.front().once.send;

  // The rank that ends last, and what all ranks have once a step.
  for (std::size_t r = 0; r < out.ranks.size(); ++r) {
    if (out.ranks[r].end > out.ranks[out.last].end) out.last = r;
  }
  out.placed = out.ranks[out.last].end;
  out.critical = critical(out.ranks, out.last);
  for (RankTimeline& rank : out.ranks) add_parts(out.placed, rank);
  for (std::size_t r = 0; r < out.ranks.size(); ++r) {
    if (out.ranks[r].parts.bubble < out.ranks[out.busiest].parts.bubble) out.busiest = r;
  }
  out.parts = out.ranks[out.busiest].parts;
  const HeldMemory memory = held_memory(step.held, run.job, run.cluster, calibration);
  if (memory.fits && memory.at_limit) {
    out.parts.other += reclaiming_time(static_cast<double>(step.micro_batches), prices);
  }
  add_rest(out.parts, prices, change.waiting);
  out.step_time = out.parts.total();
  return out;
}

Result<SimulatedStep> simulate_step(const Run& run, const StepChange& change) {
  Problems problems = simulation_problems(run);
  const auto calibration = calibration_for(run);
  if (!calibration) append(problems, calibration.problems());
  if (!problems.empty()) return problems;
  return simulate_step(run, *calibration, change);
}

}  // namespace headway
