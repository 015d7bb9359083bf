// A run to sweep over, and tools whose forecast is a closed form.
#pragma once

#include <functional>
#include <utility>

#include "cluster/load.hpp"
#include "cost/calibration/calibration.hpp"
#include "model/load.hpp"
#include "study/sweep/sweep.hpp"

namespace headway {

/// Llama 2 7B by FSDP on 8 H100, two sequences of 4,096 each.
inline SweepRun run_to_sweep() {
  SweepRun out{load_model("llama-2-7b").value(), load_cluster("dgx-h100").value(), {}, {}};
  out.job.framework = framework_from("fsdp").value();
  out.job.sequence = 4096;
  out.job.global_batch = 16;
  out.layout.dp = 8;
  out.layout.zero = 3;
  out.layout.reshard_after_forward = false;
  return out;
}

inline Result<RunAssumptions> usual_assumptions(const SweepRun& run) {
  auto out = default_assumptions(run.cluster, run.layout.ranks());
  if (out) out.value().tokens = 1e12;
  return out;
}

/// The forecasts of the model itself.
inline SweepTools real_tools() {
  SweepTools out;
  out.forecast = [](const SweepRun& run) -> Result<Forecast> {
    const auto calibration = calibration_for(run.cluster);
    if (!calibration) return calibration.problems();
    return forecast(run.model, run.job, run.layout, run.cluster, *calibration);
  };
  out.assumed = usual_assumptions;
  out.power = step_constants()->power;
  return out;
}

/// Forecasts of which nothing but tokens/s is known.
inline SweepTools tools_with(std::function<double(const SweepRun&)> tokens_per_second) {
  SweepTools out = real_tools();
  out.forecast = [rate = std::move(tokens_per_second)](const SweepRun& run) -> Result<Forecast> {
    Forecast made;
    const double tokens =
        static_cast<double>(run.job.global_batch) * static_cast<double>(run.job.sequence);
    made.fits = true;
    made.tokens_per_second = rate(run);
    made.step_time = Seconds(tokens / made.tokens_per_second);
    made.parts.compute = made.step_time;
    return made;
  };
  return out;
}

}  // namespace headway
