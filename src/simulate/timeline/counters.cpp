#include "simulate/timeline/counters.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "forecast/assembly.hpp"
#include "forecast/energy.hpp"
#include "forecast/spread.hpp"
#include "step/memory/activations.hpp"

namespace headway {
namespace {

std::int64_t rounded_ns(Seconds time) {
  return std::llround(time.value() * 1e9);
}

// Values that grow and fall, each change by its time.
class Changes {
 public:
  void add(Seconds from, Seconds to, double by) {
    const std::int64_t begin = rounded_ns(from), end = rounded_ns(to);
    if (begin == end) return;
    by_time_[begin] += by;
    by_time_[end] -= by;
  }
  bool empty() const { return by_time_.empty(); }

  // `of` makes the value of the sum; what is left of sums of the same terms is nothing.
  template <class Of>
  TimelineCounter counter(std::int64_t rank, std::string name, std::string unit, Of&& of) const {
    TimelineCounter out{rank, std::move(name), std::move(unit), {}};
    double largest = 0, sum = 0;
    for (const auto& [time, by] : by_time_) largest = std::max(largest, std::abs(by));
    if (!by_time_.contains(0)) out.values.emplace_back(0, of(0.0));
    for (const auto& [time, by] : by_time_) {
      sum += by;
      if (std::abs(sum) < 1e-9 * largest) sum = 0;
      out.values.emplace_back(time, of(sum));
    }
    return out;
  }

 private:
  std::map<std::int64_t, double> by_time_;
};

// [SIM-60] Bytes = those that no micro-batch changes + (1 + f)(h A + w) + i max(0, h - 1) A. A:
// kept of one micro-batch in all chunks of the rank; h: micro-batches held, a chunk's by its share
// of them, each from the begin of its forward slot to the end of the slot of its weights' gradient;
// w: what is at work besides, in slots of forward passes and input gradients; f, i: fragmentation
// and interleaving [FORECAST-11]. The largest is the forecast's [STEP-9] where the order holds as
// many micro-batches at once as [STEP-12] says. Known error: gathered weights and buckets are there
// all the time, a slot has its widest block's room from its begin to its end.
class HeldOverTime {
 public:
  HeldOverTime(const Run& run, const Calibration& calibration, const Step& step,
               const Pipeline& pipeline)
      : run_(run), calibration_(calibration), step_(step), chunks_(pipeline.chunks()) {}

  TimelineCounter of(std::int64_t rank, const RankTimeline& timeline) const {
    StageClass stage = class_of(rank);
    stage.first = rank;
    stage.stages = 1;
    const ActivationsOfRank activations = activations_of(step_.blocks, stage, run_.layout);
    const HeldStates states = held_states(step_.blocks, stage, run_.job, run_.layout);
    // Chunks of micro-batches that are held, and slots at work.
    std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> changes;
    changes[0];
    for (const StepSpan& span : timeline.spans) {
      if (!span.program) continue;
      const std::int64_t begin = rounded_ns(span.begin), end = rounded_ns(span.end);
      if (span.work == SlotWork::forward) changes[begin].first += 1;
      if (span.work == SlotWork::backward || span.work == SlotWork::weight_gradient) {
        changes[end].first -= 1;
      }
      if (span.work == SlotWork::weight_gradient) continue;
      changes[begin].second += 1;
      changes[end].second -= 1;
    }
    TimelineCounter out{rank, "memory", "B", {}};
    std::int64_t held = 0, at_work = 0;
    for (const auto& [time, change] : changes) {
      held += change.first;
      at_work += change.second;
      out.values.emplace_back(time, bytes(states, activations, held, at_work > 0));
    }
    return out;
  }

 private:
  const StageClass& class_of(std::int64_t rank) const {
    for (const StageClass& stage : step_.stages) {
      if (rank < stage.first + stage.stages) return stage;
    }
    return step_.stages.back();
  }

  double bytes(const HeldStates& states, const ActivationsOfRank& activations, std::int64_t held,
               bool at_work) const {
    const double flights = static_cast<double>(held) / static_cast<double>(chunks_);
    MostHeld most;
    most.memory.parameters = states.parameters;
    most.memory.gradients = states.gradients;
    most.memory.optimizer = states.optimizer;
    most.memory.buffers = states.buffers;
    most.memory.activations =
        flights * activations.kept + (at_work ? activations.at_work : Bytes(0));
    most.memory.in_flight = std::max(0.0, flights - 1) * activations.kept;
    return held_memory(most, run_.job, run_.cluster, calibration_).held.total().value();
  }

  const Run& run_;
  const Calibration& calibration_;
  const Step& step_;
  std::int64_t chunks_;
};

// [SIM-61] P = [FORECAST-6] of the slot: its products at the rate that long ones sustain, as a
// share of its time; between slots that of waiting. Over the step of all ranks it is the energy of
// a step of that time with those products. Known error: that of [FORECAST-6]; within a slot it is a
// mean of kernels.
TimelineCounter power_of(const Run& run, const Calibration& calibration, std::int64_t rank,
                         const RankTimeline& timeline) {
  const Accelerator& accelerator = run.cluster.accelerator;
  Changes busy;
  for (const StepSpan& span : timeline.spans) {
    if (!span.program || !(span.end > span.begin)) continue;
    const StepWork work{span.end - span.begin, span.program->products, 1};
    busy.add(span.begin, span.end, work.busy(run.job, calibration, accelerator));
  }
  return busy.counter(rank, "power", "W", [&](double share) {
    return training_power(calibration.power, accelerator, share).value();
  });
}

// [SIM-62] load of a level = bytes that the rank's running calls send across it [COMM-2] / their
// time / data sheet's rate of one accelerator in one direction. Valid where no other rank's traffic
// takes the link meanwhile. Known error: a call's bytes flow evenly over its time.
class LoadsOverTime {
 public:
  LoadsOverTime(const Run& run, const Spans& spans, std::int64_t rank)
      : run_(run),
        spans_(spans),
        rank_(rank),
        loads_(std::min<std::size_t>(run.cluster.levels.size(), kMostLevels)) {}

  std::vector<TimelineCounter> of(const RankTimeline& timeline) && {
    for (const StepSpan& span : timeline.spans) {
      if (span.call) add(*span.call, span.begin, span.end);
      if (!span.program || !(span.program->time > Seconds(0))) continue;
      const double longer = (span.end - span.begin) / span.program->time;
      const auto tasks = span.program->list.tasks();
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        const TaskCall* call = span.program->list.call_of(tasks[i]);
        if (call == nullptr) continue;
        const PlacedTask& placed = span.program->placed[i];
        add(*call, span.begin + placed.begin * longer, span.begin + placed.end * longer);
      }
      if (span.work == SlotWork::weight_gradient) continue;
      for (const SlotCall& each : timeline.slot_calls) {
        add(each.call, span.end - each.time, span.end);
      }
    }
    std::vector<TimelineCounter> out;
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      if (loads_[i].empty()) continue;
      out.push_back(loads_[i].counter(rank_, "load of " + run_.cluster.levels[i].name, "%",
                                      [](double load) { return load; }));
    }
    return out;
  }

 private:
  void add(const TaskCall& made, Seconds begin, Seconds end) {
    const GroupSpan& span = span_of_group(spans_, made.group);
    // In whole nanoseconds, as its begin and end are.
    const Seconds time(static_cast<double>(rounded_ns(end) - rounded_ns(begin)) * 1e-9);
    if (span.ranks <= 1 || !(time > Seconds(0))) return;
    Call call{};
    call.op = made.op;
    call.group = made.group;
    call.bytes = made.bytes;
    call.choices = made.choices;
    const bool to_stages = made.group == Group::pp && made.op == CollectiveOp::send_receive;
    const LevelShares shares = to_stages
                                   ? pipeline_shares(rank_, 1, run_.layout, span, run_.cluster)
                                   : level_shares(call, span, run_.cluster);
    const Bytes sent = made.bytes * (made.count * wire_factor(made.op, span.ranks));
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      const BytesPerSecond rate = run_.cluster.levels[i].bandwidth;
      if (!(shares[i] > 0) || !(rate.value() > 0)) continue;
      loads_[i].add(begin, end, 100 * (shares[i] * sent / time / rate));
    }
  }

  const Run& run_;
  const Spans& spans_;
  std::int64_t rank_;
  std::vector<Changes> loads_;
};

}  // namespace

std::vector<TimelineCounter> counters_of(const Run& run, const Calibration& calibration,
                                         const SimulatedStep& step) {
  const Step lowered = lower(run);
  const HeldOverTime memory(run, calibration, lowered, step.pipeline);
  std::vector<TimelineCounter> out;
  for (std::size_t r = 0; r < step.ranks.size(); ++r) {
    const auto rank = static_cast<std::int64_t>(r);
    out.push_back(memory.of(rank, step.ranks[r]));
    out.push_back(power_of(run, calibration, rank, step.ranks[r]));
    for (TimelineCounter& load : LoadsOverTime(run, lowered.spans, rank).of(step.ranks[r])) {
      out.push_back(std::move(load));
    }
  }
  return out;
}

Result<std::vector<TimelineCounter>> counters_of(const Run& run, const SimulatedStep& step) {
  const auto calibration = calibration_for(run);
  if (!calibration) return calibration.problems();
  return counters_of(run, *calibration, step);
}

std::int64_t count_values(const SimulatedStep& step, std::size_t levels) {
  const auto of_call = static_cast<std::int64_t>(levels);
  std::int64_t out = 0;
  for (const RankTimeline& rank : step.ranks) {
    for (const StepSpan& span : rank.spans) {
      if (span.call) out += 2 * of_call;
      if (!span.program) continue;
      const auto tasks = span.program->list.tasks();
      const auto calls = std::count_if(tasks.begin(), tasks.end(),
                                       [](const StreamTask& task) { return task.call != 0; });
      out += 4 + 2 * of_call * (calls + std::ssize(rank.slot_calls));
    }
  }
  return out;
}

}  // namespace headway
