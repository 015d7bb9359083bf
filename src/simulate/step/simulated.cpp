#include "simulate/step/simulated.hpp"

#include <algorithm>

#include "forecast/assembly.hpp"
#include "simulate/step/critical.hpp"
#include "simulate/step/work.hpp"

namespace headway {
namespace {

// What follows a rank's slots, where calls that several stages take part in begin when the last of
// them is there.
class AfterAll {
 public:
  AfterAll(const std::vector<RankWork>& work, std::vector<RankTimeline>& ranks)
      : work_(work), ranks_(ranks), at_(work.size(), 0) {
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

  bool step(std::size_t r) {
    const AfterSlots& item = work_[r].once.after[at_[r]];
    std::size_t latest = r;
    if (item.meets) {
      for (std::size_t other = 0; other < work_.size(); ++other) {
        const auto there = same_call(work_, r, at_[r], other);
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
      const auto there = same_call(work_, r, at, other);
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
    span.call = item.call;
    span.cause_rank = static_cast<std::int64_t>(cause_rank);
    span.cause = cause;
    ranks_[r].spans.push_back(std::move(span));
    last_[r] = ranks_[r].spans.size() - 1;
  }

  const std::vector<RankWork>& work_;
  std::vector<RankTimeline>& ranks_;
  std::vector<std::size_t> at_, last_;
};

void add_parts(const Seconds& placed, RankTimeline& rank) {
  for (const StepSpan& span : rank.spans) {
    if (span.beside) continue;
    for (const PartRow& row : kParts) rank.parts[row.part] += span.parts[row.part];
  }
  // Sums of the same terms in another order differ in their last digits.
  const Seconds waits = placed - rank.parts.total();
  if (waits > 1e-12 * placed) rank.parts.bubble += waits;
}

// [METHOD-1] Of the rank whose parts are told: what is exchanged beside the steps that follow.
void add_beside_steps(const Step& step, const Prices& prices, SimulatedStep& out) {
  for (const StageClass& stage : step.stages) {
    const auto rank = static_cast<std::int64_t>(out.busiest);
    if (rank < stage.first || rank >= stage.first + stage.stages) continue;
    const BesideSteps beside =
        beside_steps(priced_update(stage, prices), out.parts.total(), prices);
    out.parts.compute += beside.slower;
    out.parts.dp += beside.exposed;
  }
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
  if (run.job.input_rate > 0) {
    out.push_back({FieldName("input-rate"), "feeds a step whose readers are not placed in time",
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
  const PricedStep priced = priced_step(step, prices);

  // Every slot, then what comes once a step.
  SimulatedStep out;
  const PipelineWork work = work_of_step(run, priced);
  out.pipeline = work.pipeline;
  place_slots(out.pipeline, work.ranks, work.rules, out.ranks);
  AfterAll(work.ranks, out.ranks).run();
  out.send = work.ranks.front().once.send;
  for (std::size_t r = 0; r < out.ranks.size(); ++r) {
    out.ranks[r].slot_calls = work.ranks[r].once.slot_calls;
  }

  // The rank that ends last, and what all ranks have once a step.
  for (std::size_t r = 0; r < out.ranks.size(); ++r) {
    if (out.ranks[r].end > out.ranks[out.last].end) out.last = r;
  }
  out.placed = out.ranks[out.last].end;
  out.critical = critical_parts(out.ranks, out.last);
  for (RankTimeline& rank : out.ranks) add_parts(out.placed, rank);
  for (std::size_t r = 0; r < out.ranks.size(); ++r) {
    if (out.ranks[r].parts.bubble < out.ranks[out.busiest].parts.bubble) out.busiest = r;
  }
  out.parts = out.ranks[out.busiest].parts;
  const HeldMemory memory = held_memory(step.held, run.job, run.cluster, calibration);
  if (memory.fits && memory.at_limit) {
    out.parts.other += reclaiming_time(static_cast<double>(step.micro_batches), prices);
  }
  if (!run.job.method.is_synchronous()) add_beside_steps(step, prices, out);
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
