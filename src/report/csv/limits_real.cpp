// headway limits --real --rows: every width of every setting.
#include "base/document/csv.hpp"
#include "base/text.hpp"
#include "report/limits.hpp"

namespace headway {

std::string real_csv(const std::vector<RealCurve>& curves) {
  const std::vector<std::string> head = {"setting",
                                         "cluster",
                                         "d_model",
                                         "layers",
                                         "batch_tokens",
                                         "sequence_tokens",
                                         "training_flop",
                                         "utilization",
                                         "n_gpus",
                                         "run_time_s",
                                         "transformer_training_flop",
                                         "mfu",
                                         "transformer_n_gpus",
                                         "transformer_run_time_s",
                                         "step_time_s",
                                         "dp",
                                         "tp",
                                         "cp",
                                         "pp",
                                         "vpp",
                                         "schedule",
                                         "micro_batch",
                                         "zero",
                                         "recompute",
                                         "overlap_tensor",
                                         "memory_bytes"};
  const auto count = [](std::int64_t value) { return std::to_string(value); };
  std::string out = join(head, ",") + "\n";
  for (const RealCurve& of : curves) {
    for (const RealModel& model : of.models) {
      std::vector<std::string> row = {csv_cell(of.ideal.setting.name),
                                      csv_cell(of.cluster),
                                      count(model.shape.d_model),
                                      count(model.shape.layers),
                                      count(model.shape.batch_tokens),
                                      count(of.ideal.setting.sequence),
                                      csv_number(model.shape.training.value())};
      if (model.ideal) {
        row.insert(row.end(), {csv_number(model.ideal->utilization), count(model.ideal->gpus),
                               csv_number(model.ideal->duration.value())});
      } else {
        row.resize(row.size() + 3);
      }
      if (model.transformer) {
        const TransformerRun& run = *model.transformer;
        const Layout& layout = run.layout;
        row.insert(row.end(),
                   {csv_number(run.training.value()), csv_number(run.forecast.mfu),
                    count(run.accelerators), csv_number(run.duration.value()),
                    csv_number(run.forecast.step_time.value()), count(layout.dp), count(layout.tp),
                    count(layout.cp), count(layout.pp), count(layout.vpp),
                    std::string(kScheduleNames[static_cast<std::size_t>(layout.schedule)]),
                    count(layout.micro_batch), count(layout.zero),
                    std::string(kRecomputeNames[static_cast<std::size_t>(layout.recompute)]),
                    layout.overlap_tensor == Choice::on ? "true" : "false",
                    csv_number(run.forecast.memory.total().value())});
      }
      row.resize(head.size());
      out += join(row, ",") + "\n";
    }
  }
  return out;
}

}  // namespace headway
