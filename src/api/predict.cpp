#include "api/predict.hpp"

#include "base/quantity_text.hpp"
#include "fit/intervals/fit.hpp"
#include "step/frameworks/habits.hpp"

namespace headway {

Result<Forecast> predict(const Run& run) {
  const auto calibration = calibration_for(run.cluster, run.job.software);
  if (!calibration) return calibration.problems();
  Forecast out =
      forecast(run.model, run.job, run.layout, run.cluster, *calibration, run.convention);
  if (const auto& intervals = embedded_interval_fit()) {
    add_intervals(intervals->model, run.model, run.job, run.layout, run.cluster, out);
  }
  if (!out.fits) {
    out.notes.push_back("does not fit: " + to_text(out.memory.total() - out.capacity) +
                        " more than the " + to_text(out.capacity) + " of an accelerator");
  }
  const std::int64_t chunks = run.layout.pp * run.layout.vpp;
  const bool balanced = habits(run.job).pipeline.balances_stages && run.layout.vpp == 1;
  if (run.model.layers() % chunks != 0 && run.layout.first_stage_layers == 0 &&
      run.layout.last_stage_layers == 0 && !balanced) {
    out.notes.push_back(std::to_string(run.model.layers()) + " layers do not divide into " +
                        std::to_string(chunks) +
                        " pipeline chunks: the first ones hold one more (Megatron-LM needs "
                        "--pipeline-model-parallel-layout for that)");
  }
  if (run.model.maximum_sequence > 0 && run.job.sequence > run.model.maximum_sequence) {
    out.notes.push_back("sequence of " + std::to_string(run.job.sequence) +
                        " tokens is longer than the " + std::to_string(run.model.maximum_sequence) +
                        " the model was made for");
  }
  return out;
}

}  // namespace headway
