#include "forecast/rates.hpp"

#include "step/pieces.hpp"

namespace headway {

void add_rates(const Run& run, const Step& step, FlopsPerSecond peak, Forecast& out) {
  const Job& job = run.job;
  out.step_time = out.parts.total();
  const double ranks = static_cast<double>(run.layout.ranks());
  const double tokens = static_cast<double>(job.global_batch) * static_cast<double>(job.sequence);
  out.tokens_per_second = tokens / out.step_time.value();
  out.tokens_per_second_per_accelerator = out.tokens_per_second / ranks;
  const bool full = run.convention == AttentionFlops::full;
  const Flops flops = full ? step.model_flops_full : step.model_flops_causal;
  const Flops again = full ? step.recomputed_flops_full : step.recomputed_flops_causal;
  out.model_flops_per_accelerator = flops / out.step_time / ranks;
  out.mfu = out.model_flops_per_accelerator / peak;
  out.hfu = out.mfu * ((flops + again) / flops);
  out.least_time =
      (least_model_flops(run.model, job, run.layout) + step.recomputed_flops_causal) / ranks / peak;
}

void add_memory(const HeldMemory& memory, const Run& run, const Calibration& calibration,
                Forecast& out) {
  out.memory = memory.held;
  out.first_memory = memory.first;
  out.driver = calibration.of(run.job.framework).context;
  out.gaps = memory.gaps;
  out.capacity = run.cluster.accelerator.memory;
  out.fits = memory.fits;
  if (memory.fits && memory.at_limit) {
    out.notes.emplace_back(
        "memory is at its limit: the allocator gives its cache back in every micro-batch, and may "
        "do so more often");
  }
}

}  // namespace headway
