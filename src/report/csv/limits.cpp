// headway limits --rows: every model of every curve.
#include "report/limits.hpp"

#include "base/document/csv.hpp"

namespace headway {
namespace {

// A degree with its parts on the levels, from the inside outwards: "8:4x2".
std::string placed(const limits::Split& split, std::size_t levels) {
  std::string out = std::to_string(split.degree());
  for (std::size_t level = 0; level < levels; ++level) {
    out += (level == 0 ? ":" : "x") + std::to_string(split.at[level]);
  }
  return out;
}

}  // namespace

std::string limits_csv(const LimitsReport& report) {
  std::string out =
      "setting,training_flop,d_model,layers,sparsity,batch_tokens,n_gpus,utilization,run_time_s,"
      "step_time_s,dp,tp_model,tp_ff,pp,ep,micro_batches,interleave,zero_bubble,arithmetic_s,"
      "memory_s,kernel_latency_s,network_s,bubble_s,network_latency_s,tokens,sample_penalty,"
      "submodels\n";
  for (const LimitsCurve& of : report.curves) {
    const std::size_t levels = of.setting.machine.levels.size();
    for (const limits::Run& run : of.curve.runs) {
      const limits::Layout& layout = run.layout;
      out += csv_cell(of.setting.name) + "," + csv_number(run.shape.training.value()) + "," +
             std::to_string(run.shape.d_model) + "," + std::to_string(run.shape.layers) + "," +
             std::to_string(run.shape.experts) + "," + std::to_string(run.shape.batch_tokens) +
             "," + std::to_string(run.gpus) + "," + csv_number(run.utilization) + "," +
             csv_number(run.duration.value()) + "," + csv_number(run.step.total.value());
      for (const limits::Split* split : {&layout.data, &layout.tensor_model, &layout.tensor_ff,
                                         &layout.pipeline, &layout.expert}) {
        out += "," + placed(*split, levels);
      }
      out += "," + std::to_string(layout.micro_batches) + "," + std::to_string(layout.interleave) +
             "," + (layout.zero_bubble ? "true" : "false");
      for (const Seconds part : limits::in_order(run.step.parts))
        out += "," + csv_number(part.value());
      out += "," + csv_number(run.shape.tokens) + "," +
             csv_number(of.setting.relaxation.sample_penalty) + "," +
             std::to_string(run.gpus / layout.gpus()) + "\n";
    }
  }
  return out;
}

}  // namespace headway
