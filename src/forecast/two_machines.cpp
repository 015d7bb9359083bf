#include "forecast/two_machines.hpp"

#include <algorithm>

#include "forecast/energy.hpp"
#include "forecast/priced_blocks.hpp"
#include "forecast/rates.hpp"

namespace headway {
namespace {

// Classes of stages of which none lies on both sides of `at`.
std::vector<StageClass> cut(std::vector<StageClass> stages, std::int64_t at) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const std::int64_t before = at - stages[i].first;
    if (before <= 0 || before >= stages[i].stages) continue;
    StageClass behind = stages[i];
    behind.first = at;
    behind.stages -= before;
    stages[i].stages = before;
    stages.insert(stages.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(behind));
    break;
  }
  return stages;
}

Step cut_step(const Run& run, std::int64_t at) {
  Step out = lower(run);
  out.stages = cut(std::move(out.stages), at);
  return out;
}

// The whole run as one of the machines would run it, of which some stages are its own.
struct Side {
  Side(const OnMachine& on, std::int64_t at, bool holds_last)
      : run(on.run),
        calibration(on.calibration),
        step(cut_step(on.run, at)),
        prices{run.job, run.layout, run.cluster, calibration, step.spans},
        priced(step, prices) {
    for (std::size_t i = 0; i < step.stages.size(); ++i) {
      if ((step.stages[i].first >= at) != holds_last) continue;
      if (own.empty()) first_own = i;
      own.push_back(step.stages[i]);
      ranks += step.stages[i].stages * (run.layout.ranks() / run.layout.pp);
    }
    held = hold(step.blocks, own, run.job, run.layout, step.micro_batches);
    memory = held_memory(held, run.job, run.cluster, calibration);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  // What its own stages compute for one micro-batch, in units that hold for both sides alike.
  Flops products() const {
    Flops out(0);
    for (std::size_t i = 0; i < step.blocks.size(); ++i) {
      double blocks = 0;
      for (const StageClass& stage : own) {
        blocks += static_cast<double>(stage.stages * stage.counts[i]) * stage.share;
      }
      Flops each = recomputed_flops(step.blocks[i], run.job, AttentionFlops::full);
      for (const Op& op : only<Op>(step.blocks[i].items)) each += work(op, AttentionFlops::full);
      out += blocks * each;
    }
    return out;
  }
  FlopsPerSecond peak() const {
    return static_cast<double>(ranks) * run.cluster.accelerator.peak_of(run.job.recipe->matmul);
  }
  Bytes room() const { return run.cluster.accelerator.memory - memory.live(); }

  const Run& run;
  const Calibration& calibration;
  Step step;
  Prices prices;
  PricedBlocks priced;
  std::vector<StageClass> own;
  std::size_t first_own = 0;  // among the classes of the step
  std::int64_t ranks = 0;
  MostHeld held;
  HeldMemory memory;
};

// What crosses from one machine to the other waits for the slower of two networks; so do all
// transfers, since the micro-batches of a pipeline follow each other.
void slow_down(Side& a, Side& b) {
  for (std::size_t i = 0; i < a.priced.transfers().size(); ++i) {
    std::vector<StageCall>&of_a = a.priced.transfers()[i], &of_b = b.priced.transfers()[i];
    for (std::size_t j = 0; j < of_a.size(); ++j) {
      Seconds &one = of_a[j].priced.each, &other = of_b[j].priced.each;
      one = other = std::max(one, other);
    }
  }
}

// The slowest of a side's own stages, put together until its weights are updated.
struct Ended {
  std::size_t stage = 0;  // the class
  Parts parts{};
  Seconds send{};
  std::vector<PricedCall> calls;
};

Ended end_of(Side& side, const Side& other, Assembly& assembly, std::vector<PricedCall>& calls,
             bool reclaims) {
  const auto own = side.priced.times().begin() + static_cast<std::ptrdiff_t>(side.first_own);
  const std::size_t stage =
      side.first_own + slowest({own, own + static_cast<std::ptrdiff_t>(side.own.size())});
  assembly.look_at(stage);
  const PricedUpdate update = side.priced.run(assembly, calls);
  assembly.run_data_parallel(update);
  // States in the hosts' memory are updated when the last rank's are.
  assembly.run_optimizer(std::max(update_time(update, side.held, side.prices),
                                  update_time(update, other.held, other.prices)));
  if (reclaims) assembly.run_reclaiming();
  return {stage, assembly.parts(), assembly.send(), std::move(calls)};
}

// What a stage waits for at least: the first micro-batch comes through all stages before it.
Seconds first_wait(const std::vector<StageTime>& times, const Ended& ended, const Layout& layout) {
  const double chunks = static_cast<double>(chunks_of_rank(layout.schedule, layout.vpp));
  Seconds out(0);
  for (std::size_t i = 0; i < ended.stage; ++i) {
    out += static_cast<double>(times[i].stages) * (times[i].forward / chunks + ended.send);
  }
  return out;
}

}  // namespace

Forecast forecast(const OnMachine& on_near, const OnMachine& on_far, std::int64_t at) {
  Side near(on_near, at, false), far(on_far, at, true);
  slow_down(near, far);

  // Every stage takes what it takes on its own machine.
  std::vector<PricedCall> near_calls, far_calls;
  Assembly near_assembly = near.priced.assembly(near_calls);
  Assembly far_assembly = far.priced.assembly(far_calls);
  std::vector<StageTime>& times = near.priced.times();
  std::copy(far.priced.times().begin() + static_cast<std::ptrdiff_t>(far.first_own),
            far.priced.times().end(), times.begin() + static_cast<std::ptrdiff_t>(far.first_own));
  far.priced.times() = times;
  const bool fits = near.memory.fits && far.memory.fits;
  const bool reclaims = fits && (near.memory.at_limit || far.memory.at_limit);
  Ended near_end = end_of(near, far, near_assembly, near_calls, reclaims);
  Ended far_end = end_of(far, near, far_assembly, far_calls, reclaims);

  // The slowest stage of all sets the pace, unless the slowest of the other machine ends later:
  // with no wait but the first, and what it does once a step over its own network.
  Forecast out;
  out.pace_is_far = slowest(times) >= far.first_own;
  Ended& other = out.pace_is_far ? near_end : far_end;
  other.parts.bubble = first_wait(times, other, near.run.layout);
  if (other.parts.total() > (out.pace_is_far ? far_end : near_end).parts.total()) {
    out.pace_is_far = !out.pace_is_far;
  }
  const Side& paced = out.pace_is_far ? far : near;
  Ended& ended = out.pace_is_far ? far_end : near_end;
  add_rest(ended.parts, paced.prices);

  out.parts = ended.parts;
  out.pipeline = {times, ended.stage, ended.send};
  out.calls = std::move(ended.calls);
  merge(out.calls);
  const Side& fullest = near.room() < far.room() ? near : far;
  add_memory(fullest.memory, fullest.run, fullest.calibration, out);
  out.first_memory = near.memory.first;
  out.fits = fits;
  const double ranks = static_cast<double>(near.ranks + far.ranks);
  add_rates(paced.run, paced.step, (near.peak() + far.peak()) / ranks, out);

  const Flops products = paced.step.model_flops_full + paced.step.recomputed_flops_full;
  const Flops all = near.products() + far.products();
  for (const Side* side : {&near, &far}) {
    const StepWork work{out.step_time, products * (side->products() / all), side->ranks};
    const Accelerator& accelerator = side->run.cluster.accelerator;
    out.busy += work.busy(side->run.job, side->calibration, accelerator) *
                static_cast<double>(side->ranks) / ranks;
    out.energy += step_energy(work, side->run.job, side->calibration, accelerator);
  }
  return out;
}

}  // namespace headway
