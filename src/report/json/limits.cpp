// headway limits --json.
#include "report/limits.hpp"

#include <cmath>

#include "limits/forms/low_communication.hpp"
#include "report/json/document.hpp"

namespace headway {
namespace {

using limits::CurveEnd;

// JSON has no infinity.
Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json flop(const std::optional<Flops>& value) {
  return value ? finite(value->value()) : Json(nullptr);
}

Json layout_json(const limits::Layout& layout, const limits::Machine& machine) {
  Json placement = Json::array();
  for (std::size_t level = 0; level < machine.levels.size(); ++level) {
    placement.push_back({{"level", machine.levels[level].name},
                         {"dp", layout.data.at[level]},
                         {"tp_model", layout.tensor_model.at[level]},
                         {"tp_ff", layout.tensor_ff.at[level]},
                         {"pp", layout.pipeline.at[level]},
                         {"ep", layout.expert.at[level]}});
  }
  return {{"dp", layout.data.degree()},
          {"tp_model", layout.tensor_model.degree()},
          {"tp_ff", layout.tensor_ff.degree()},
          {"pp", layout.pipeline.degree()},
          {"ep", layout.expert.degree()},
          {"micro_batches", layout.micro_batches},
          {"interleave", layout.interleave},
          {"zero_bubble", layout.zero_bubble},
          {"placement", placement}};
}

Json times_json(const limits::StepTimes& step) {
  const limits::StepParts& p = step.parts;
  const limits::NetworkTimes& n = step.network;
  return {{"step_time_s", step.total.value()},
          {"parts_s",
           {{"arithmetic", p.arithmetic.value()},
            {"memory", p.memory.value()},
            {"kernel_latency", p.kernel_latency.value()},
            {"network", p.network.value()},
            {"bubble", p.bubble.value()},
            {"network_latency", p.network_latency.value()}}},
          {"matmul_s", step.matmul.value()},
          {"tp_s", n.tensor.value()},
          {"pp_ep_s", n.pipeline.value()},
          {"dp_s", n.data.value()},
          {"tp_latency_s", n.tensor_latency.value()},
          {"pp_ep_latency_s", n.pipeline_latency.value()},
          {"dp_latency_s", n.data_latency.value()}};
}

Json run_json(const limits::Run& run, const limits::Machine& machine) {
  return {{"training_flop", run.shape.training.value()},
          {"d_model", run.shape.d_model},
          {"layers", run.shape.layers},
          {"sparsity", run.shape.experts},
          {"parameters", run.shape.parameters},
          {"batch_tokens", run.shape.batch_tokens},
          {"n_gpus", run.gpus},
          {"utilization", run.utilization},
          {"run_time_s", run.duration.value()},
          {"layout", layout_json(run.layout, machine)},
          {"times", times_json(run.step)}};
}

Json end_json(const LimitsCurve& of) {
  const limits::Curve& curve = of.curve;
  const char* reasons[] = {"too_slow", "low_utilization", "widest"};
  Json out = {{"reason", reasons[static_cast<int>(curve.end)]}};
  if (curve.first_infeasible) {
    out["next_training_flop"] = curve.first_infeasible->training.value();
    out["next_d_model"] = curve.first_infeasible->d_model;
  }
  if (of.too_slow) {
    out["next_run_time_s"] = of.too_slow->duration.value();
    out["next_n_gpus"] = of.too_slow->gpus;
  }
  if (of.bill) {
    const auto ends = [](const LowHigh& spread) { return Json::array({spread.low, spread.high}); };
    const MachineCost all = of.bill->total(), links = of.bill->inner + of.bill->outer;
    out["machine"] = {{"accelerators", of.bill->accelerators},
                      {"dollars", ends(all.dollars)},
                      {"power_w", ends(all.watts)},
                      {"links_dollars", ends(links.dollars)},
                      {"links_power_w", ends(links.watts)}};
  }
  if (of.latency_binds) {
    out["shallower"] = of.shallower ? Json{{"d_model", of.shallower->shape.d_model},
                                           {"layers", of.shallower->shape.layers},
                                           {"training_flop", of.shallower->shape.training.value()},
                                           {"n_gpus", of.shallower->gpus},
                                           {"run_time_s", of.shallower->duration.value()}}
                                    : Json(nullptr);
  }
  if (!curve.runs.empty()) {
    out["binds"] = limits::kPartNames[limits::largest_loss(curve.runs.back().step.parts)];
  }
  return out;
}

Json curve_json(const LimitsCurve& of) {
  const limits::Curve& curve = of.curve;
  Json rows = Json::array();
  for (const limits::Run& run : curve.runs) rows.push_back(run_json(run, of.setting.machine));
  const Json last =
      curve.runs.empty() ? Json(nullptr) : finite(curve.runs.back().shape.training.value());
  Json out = {
      {"name", of.setting.name},
      {"training", limits::statement_of(of.setting)},
      {"sample_penalty", of.setting.relaxation.sample_penalty},
      {"submodels", of.setting.relaxation.submodels},
      {"machine", of.setting.machine.name},
      {"precision", to_name(of.setting.precision)},
      {"sparse", of.setting.sparsity.sparse},
      {"as_published", of.setting.as_published},
      {"duration_s", of.setting.duration.value()},
      {"eta", of.setting.machine.gpu.sustained},
      {"linear_share", of.setting.linear_share},
      {"linear_scaling_end_flop", flop(curve.first_below)},
      {"linear_scaling_begin_flop", flop(curve.small_end)},
      {"linear_scaling_last_flop", flop(curve.last_above)},
      {"last_feasible_flop", last},
      {"end", end_json(of)},
      {"closed_forms",
       {{"alpha", of.published_alpha.alpha},
        {"linear_flop", finite(of.published_alpha.linear_scaling.value())},
        {"latency_flop", finite(of.published_alpha.latency.value())},
        {"implied_alpha", of.implied_alpha.alpha},
        {"implied_linear_flop", finite(of.implied_alpha.linear_scaling.value())},
        {"implied_latency_flop", finite(of.implied_alpha.latency.value())}}},
      {"against_published",
       {{"models_changed", of.models_changed}, {"largest_change_utilization", of.largest_change}}},
      {"rows", rows}};
  if (of.smooth) {
    out["smooth"] = {{"linear_scaling_flop", flop(of.smooth->linear_scaling)},
                     {"wall_flop", flop(of.smooth->wall)}};
  }
  return out;
}

}  // namespace

std::string limits_json(const LimitsReport& report) {
  Json settings = Json::array();
  for (const LimitsCurve& of : report.curves) settings.push_back(curve_json(of));
  const Json document = {{"title", report.title}, {"settings", settings}};
  return document_text(document);
}

}  // namespace headway
