#include "report/json/run.hpp"

#include <algorithm>
#include <cmath>

#include "forecast/intervals/intervals.hpp"
#include "method/methods.hpp"
#include "run/network_fields.hpp"

namespace headway {
namespace {

Json whole_or(double number) {
  const bool whole = number == std::floor(number) && std::abs(number) < 1e15;
  return whole ? Json(static_cast<std::int64_t>(number)) : Json(number);
}

std::string_view unit_of(const MethodField& field) {
  using Form = MethodField::Form;
  if (field.form == Form::bandwidth) return "_bytes_per_s";
  if (field.form == Form::latency) return "_s";
  return field.name == "kept" ? "_bytes_per_parameter" : "";
}

// How near a run is to measured ones: on two machines no nearer than on either. Framework and
// distance are those of both.
Nearness nearness_of(const RequestedRun& run, const Reach& reach) {
  Nearness out = reach.nearness(run);
  if (run.far == nullptr) return out;
  const Nearness far = reach.nearness(on_far_machine(run));
  out.on_accelerator = std::min(out.on_accelerator, far.on_accelerator);
  out.of_setup = std::min(out.of_setup, far.of_setup);
  return out;
}

}  // namespace

Json layout_json(const Layout& layout, std::optional<std::int64_t> micro_batches) {
  // What is read of networks of modules alone is told where it is not as usual.
  const Layout usual;
  Json out = Json::object();
  for (const FieldRow& row : field_rows()) {
    if (row.member.empty()) continue;
    if (is_of_networks(row.field.name) &&
        node_json(shown_value(row, layout)) == node_json(shown_value(row, usual))) {
      continue;
    }
    out[std::string(row.member)] = node_json(shown_value(row, layout));
    if (row.member == "micro_batch" && micro_batches) out["micro_batches"] = *micro_batches;
  }
  return out;
}

Json run_layout_json(const Run& run) {
  return layout_json(run.layout, micro_batches(run.job, run.layout));
}

Json method_json(const Run& run) {
  const Method& method = run.job.method;
  const MethodRow& row = *method.row;
  Json out = {{"name", row.name},
              {"title", row.title},
              {"given", text_of(method)},
              {"meeting", kMeetingNames[static_cast<std::size_t>(method.meeting)]},
              {"replicas", replicas_of(run.layout)}};
  for (const std::string& name : row.fields) {
    const MethodField& field = *method_field(name);
    if (name == "replicas" || name == "compressor") continue;
    std::string key = name + std::string(unit_of(field));
    std::replace(key.begin(), key.end(), '-', '_');
    if (field.form == MethodField::Form::zeros) {
      out[key] = kSparsityForms[static_cast<std::size_t>(method.sparsity.form)];
      continue;
    }
    const bool none = field.get(method) < field.least;
    out[key] = none ? Json(nullptr) : whole_or(field.get(method));
  }
  out["compressor"] = row_of(method.compression.by).name;
  out["sample_penalty"] = row.sample_penalty;
  out["penalty"] = row.penalty;
  out["source"] = row.source;
  return out;
}

Json run_job_json(const Run& run) {
  const Job& job = run.job;
  Json out = {{"task", kTaskNames[static_cast<int>(job.task)]},
              {"framework", name_of(job.framework)},
              {"seq", job.sequence},
              {"global_batch", job.global_batch},
              {"precision", job.recipe->name},
              {"optimizer", kOptimizerNames[static_cast<int>(job.optimizer)]},
              {"attention", kAttentionKernelNames[static_cast<int>(job.attention)]}};
  if (!job.method.is_synchronous()) out["method"] = method_json(run);
  return out;
}

Json parts_json(const Parts& parts) {
  Json out = Json::object();
  for (const PartRow& row : kParts) out[std::string(row.name)] = parts[row.part].value();
  return out;
}

Json nearness_json(const RequestedRun& run, const Forecast& forecast) {
  const auto& intervals = embedded_interval_model();
  if (!forecast.step_time_interval || !intervals) return nullptr;
  const Nearness near = nearness_of(run, intervals->reach);
  return {{"runs", near.runs},
          {"of_framework", near.of_framework},
          {"on_accelerator", near.on_accelerator},
          {"of_setup", near.of_setup},
          {"doublings_away", near.doublings}};
}

}  // namespace headway
