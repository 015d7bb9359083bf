#include "fit/corpus/forecast.hpp"

#include <string>

namespace headway {

Forecast forecast_of(const CorpusRun& run) {
  const OwnSetup* own = own_setup(run);
  if (own == nullptr) return forecast(run, run.machine->calibration);
  Calibration calibration = run.machine->calibration;
  calibration.own = own->factor;
  return forecast(run, calibration);
}

void settle_recomputation(CorpusRun& run) {
  if (run.remedies.empty()) return;
  for (const Remedy& remedy : run.remedies) {
    if (!remedy.as_stated) {
      run.layout.recompute = remedy.recompute;
      run.layout.recompute_pieces = remedy.pieces;
      run.layout.recompute_one_in = remedy.one_in;
      run.layout.offload_activations = remedy.offload_activations;
    }
    if (!forecast_of(run).fits) continue;
    if (remedy.as_stated) return;
    break;
  }
  run.assumed.push_back("recompute=" +
                        std::string(kRecomputeNames[static_cast<int>(run.layout.recompute)]));
  if (run.layout.offload_activations) run.assumed.emplace_back("offload=activations");
}

Bytes reported_memory(const CorpusRun& run, const Forecast& forecast) {
  const Memory& memory = run.first_rank_reports ? forecast.first_memory : forecast.memory;
  return memory.total() - forecast.driver;
}

std::optional<double> measured_step_time(const CorpusRow& row, const CorpusRun& run) {
  const double sequences = static_cast<double>(run.job.global_batch);
  const double accelerators = static_cast<double>(*row.n_accel);
  if (row.step_time_s) return row.step_time_s;
  if (row.tokens_per_s_per_accel) {
    return sequences * static_cast<double>(run.job.sequence) /
           (*row.tokens_per_s_per_accel * accelerators);
  }
  const double flops =
      3 * sequences * forward_flops(run.model, run.job.sequence, run.convention).value();
  if (row.model_tflops_per_accel) {
    return flops / (*row.model_tflops_per_accel * 1e12 * accelerators);
  }
  const double peak = run.cluster.accelerator.peak_of(run.job.recipe->matmul).value();
  if (row.mfu_reported && peak > 0) {
    return flops / (*row.mfu_reported / 100 * peak * accelerators);
  }
  return std::nullopt;
}

}  // namespace headway
