// A run to sweep over, and points whose forecast is a closed form.
#pragma once

#include <utility>

#include "cluster/load.hpp"
#include "model/reading/load.hpp"
#include "study/sweep/sweep.hpp"

namespace headway {

/// Llama 2 7B by FSDP on 8 H100, two sequences of 4,096 each.
inline RequestedRun run_to_sweep() {
  RequestedRun out{load_model("llama-2-7b").value(), load_cluster("dgx-h100").value(), {}, {}};
  out.job.framework = framework_from("fsdp").value();
  out.job.sequence = 4096;
  out.job.global_batch = 16;
  out.layout.dp = 8;
  out.layout.zero = 3;
  out.layout.reshard_after_forward = false;
  return out;
}

/// Runs as they stand, on 10^12 tokens.
inline SweepSettings usual_settings() {
  SweepSettings out;
  out.given = assume_all_but(1e12).value();
  out.power = step_constants()->power;
  return out;
}

inline RunAssumptions usual_assumptions(const RequestedRun& run) {
  return assumptions_for(usual_settings().given, run.cluster, run.layout.ranks()).value();
}

/// A forecast of which nothing but tokens/s is known.
inline Forecast forecast_with(const RequestedRun& run, double tokens_per_second) {
  Forecast out;
  const double tokens =
      static_cast<double>(run.job.global_batch) * static_cast<double>(run.job.sequence);
  out.fits = true;
  out.tokens_per_second = tokens_per_second;
  out.step_time = Seconds(tokens / tokens_per_second);
  out.parts.compute = out.step_time;
  return out;
}

/// The point of a run with such a forecast.
inline SweepPoint point_with(RequestedRun run, Forecast forecast) {
  const RunAssumptions assumed = usual_assumptions(run);
  const SweepCase at = {std::to_string(run.layout.ranks()), static_cast<double>(run.layout.ranks()),
                        run};
  return sweep_point(at, std::move(run), std::move(forecast), assumed, usual_settings().power)
      .value();
}

}  // namespace headway
