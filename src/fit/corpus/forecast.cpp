#include "fit/corpus/forecast.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "layout/ends.hpp"

namespace headway {
namespace {

// The run with so many virtual stages, its layers spread as its framework does, if it is legal.
std::optional<CorpusRun> with_virtual_stages(const CorpusRun& run, std::int64_t stages) {
  CorpusRun out = run;
  out.layout.vpp = stages;
  apply({}, out.layout);
  apply(usual_ends(out.model, out.job, out.layout), out.layout);
  if (!fills_chunks(out.model, out.layout) || !check(out).empty()) return std::nullopt;
  return out;
}

}  // namespace

std::vector<CorpusRun> stages_in_question(const CorpusRun& run) {
  const bool guessed = std::any_of(run.assumed.begin(), run.assumed.end(),
                                   [](const auto& each) { return each.starts_with("vpp="); });
  std::vector<CorpusRun> out;
  if (run.layout.pp == 1 || !guessed) return out;
  if (run.layout.vpp > 1) {
    if (auto one = with_virtual_stages(run, 1)) out.push_back(*std::move(one));
  }
  for (std::int64_t most = run.model.layers() / run.layout.pp; most > run.layout.vpp; --most) {
    if (auto legal = with_virtual_stages(run, most)) {
      out.push_back(*std::move(legal));
      break;
    }
  }
  return out;
}

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
