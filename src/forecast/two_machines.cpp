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

// The whole run as one of the machines would run it, and which stages of it are its own.
struct Side {
  Side(const OnMachine& on, std::int64_t at, bool holds_last)
      : run(on.run),
        calibration(on.calibration),
        step(cut_step(on.run, at)),
        prices{run.job, run.layout, run.cluster, calibration, step.spans},
        priced(step, prices) {
    for (const StageClass& stage : step.stages) {
      if ((stage.first >= at) == holds_last) own.push_back(stage);
    }
    for (const StageClass& stage : own) ranks += stage.stages;
    ranks *= run.layout.ranks() / run.layout.pp;
    held = hold(step.blocks, own, run.job, run.layout, step.micro_batches);
    memory = held_memory(held, run.job, run.cluster, calibration);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  // Of its own stages for one micro-batch, in units that hold for both sides alike.
  double products() const {
    double out = 0;
    for (std::size_t i = 0; i < step.blocks.size(); ++i) {
      double blocks = 0, flops = 0;
      for (const StageClass& stage : own) {
        blocks += static_cast<double>(stage.stages * stage.counts[i]) * stage.share;
      }
      for (const Op& op : only<Op>(step.blocks[i].items)) flops += work(op).value();
      out += blocks * flops;
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

}  // namespace

Forecast forecast(const OnMachine& on_near, const OnMachine& on_far, std::int64_t at) {
  Side near(on_near, at, false), far(on_far, at, true);
  slow_down(near, far);

  // Every stage takes what it takes on its own machine; the slowest of all sets the pace.
  std::vector<PricedCall> near_calls, far_calls;
  Assembly near_assembly = near.priced.assembly(near_calls);
  Assembly far_assembly = far.priced.assembly(far_calls);
  std::vector<StageTime>&times = near.priced.times(), &far_times = far.priced.times();
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (near.step.stages[i].first >= at) times[i] = far_times[i];
  }
  far_times = times;
  const std::size_t pace = slowest(times);
  Forecast out;
  out.pace_is_far = near.step.stages[pace].first >= at;
  const Side& paced = out.pace_is_far ? far : near;
  Assembly& assembly = out.pace_is_far ? far_assembly : near_assembly;
  std::vector<PricedCall>& calls = out.pace_is_far ? far_calls : near_calls;
  assembly.look_at(pace);
  const PricedUpdate update = paced.priced.run(assembly, calls);
  // States in the hosts' memory are updated when the last rank's are.
  assembly.run_optimizer(std::max(update_time(update, near.held, near.prices),
                                  update_time(update, far.held, far.prices)));
  const bool fits = near.memory.fits && far.memory.fits;
  if (fits && (near.memory.at_limit || far.memory.at_limit)) assembly.run_reclaiming();
  assembly.run_rest();

  out.parts = assembly.parts();
  out.pipeline = {times, pace, assembly.send()};
  out.calls = std::move(calls);
  merge(out.calls);
  const Side& fullest = near.room() < far.room() ? near : far;
  add_memory(fullest.memory, fullest.run, fullest.calibration, out);
  out.first_memory = near.memory.first;
  out.fits = fits;
  const double ranks = static_cast<double>(near.ranks + far.ranks);
  add_rates(paced.run, paced.step, (near.peak() + far.peak()) / ranks, out);

  const Flops products = paced.step.model_flops_full + paced.step.recomputed_flops_full;
  const double all = near.products() + far.products();
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
