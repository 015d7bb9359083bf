#include "report/json/run.hpp"

namespace headway {

Json layout_json(const Layout& layout, std::optional<std::int64_t> micro_batches) {
  Json out = Json::object();
  for (const FieldRow& row : field_rows()) {
    if (row.member.empty()) continue;
    out[std::string(row.member)] = node_json(shown_value(row, layout));
    if (row.member == "micro_batch" && micro_batches) out["micro_batches"] = *micro_batches;
  }
  return out;
}

Json run_layout_json(const Run& run) {
  return layout_json(run.layout, micro_batches(run.job, run.layout));
}

Json run_job_json(const Run& run) {
  const Job& job = run.job;
  return {{"task", kTaskNames[static_cast<int>(job.task)]},
          {"framework", name_of(job.framework)},
          {"seq", job.sequence},
          {"global_batch", job.global_batch},
          {"precision", job.recipe->name},
          {"optimizer", kOptimizerNames[static_cast<int>(job.optimizer)]},
          {"attention", kAttentionKernelNames[static_cast<int>(job.attention)]}};
}

Json parts_json(const Parts& parts) {
  Json out = Json::object();
  for (const PartRow& row : kParts) out[std::string(row.name)] = parts[row.part].value();
  return out;
}

}  // namespace headway
