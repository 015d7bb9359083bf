#include "forecast/forecast.hpp"

#include "forecast/energy.hpp"
#include "forecast/priced_blocks.hpp"
#include "forecast/rates.hpp"

namespace headway {

std::vector<StageCalls> calls_by_stage(const Run& run, const Calibration& calibration) {
  const Step step = lower(run);
  const Prices prices{run.job, run.layout, run.cluster, calibration, step.spans};
  std::vector<StageCalls> out;
  PricedBlocks priced(step, prices);
  for (std::size_t i = 0; i < step.stages.size(); ++i) {
    std::vector<PricedCall> calls;
    Assembly assembly = priced.assembly(calls);
    const bool sets_pace = assembly.pace() == i;
    assembly.look_at(i);
    const PricedUpdate update = priced.run(assembly, calls);
    assembly.run_data_parallel(update);
    assembly.run_optimizer(update_time(update, step.held, prices));
    assembly.run_beside_steps(update);
    stretch(calls, calibration.own);
    out.push_back({step.stages[i].first, step.stages[i].stages, sets_pace, std::move(calls)});
  }
  return out;
}

Forecast forecast(const Run& run, const Calibration& calibration) {
  const Cluster& cluster = run.cluster;
  const Job& job = run.job;
  const Layout& layout = run.layout;
  const Step step = lower(run);
  CallMemo memo;
  const Prices prices{job, layout, cluster, calibration, step.spans, &memo};

  Forecast out;
  PricedBlocks priced(step, prices);
  Assembly assembly = priced.assembly(out.calls);
  const PricedUpdate update = priced.run(assembly, out.calls);
  assembly.run_data_parallel(update);
  assembly.run_optimizer(update_time(update, step.held, prices));
  const HeldMemory memory = held_memory(step.held, job, cluster, calibration);
  if (memory.fits && memory.at_limit) assembly.run_reclaiming();
  assembly.run_beside_steps(update);
  assembly.run_rest();

  out.parts = assembly.parts();
  out.pipeline = {priced.times(), assembly.pace(), assembly.send()};
  merge(out.calls);
  stretch(out.pipeline, calibration.own);
  stretch(out.calls, calibration.own);
  add_memory(memory, run, calibration, out);
  add_rates(run, step, cluster.accelerator.peak_of(job.recipe->matmul), out);
  const StepWork work{out.step_time, step.model_flops_full + step.recomputed_flops_full,
                      layout.ranks()};
  out.busy = work.busy(job, calibration, cluster.accelerator);
  out.energy = step_energy(work, job, calibration, cluster.accelerator);
  return out;
}

}  // namespace headway
