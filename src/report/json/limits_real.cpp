// headway limits --real --json.

#include "report/json/document.hpp"
#include "report/json/run.hpp"
#include "report/limits.hpp"

namespace headway {
namespace {

// Training compute of a transformer; null where there is none.
Json compute_of(const RealModel* model) {
  return model != nullptr ? Json(model->transformer->training.value()) : Json(nullptr);
}

Json run_json(const std::optional<TransformerRun>& run) {
  if (!run) return nullptr;
  const Layout& layout = run->layout;
  return {{"training_flop", run->training.value()},
          {"n_gpus", run->accelerators},
          {"mfu", run->forecast.mfu},
          {"run_time_s", run->duration.value()},
          {"step_time_s", run->forecast.step_time.value()},
          {"parts_s", parts_json(run->forecast.parts)},
          {"memory_bytes", run->forecast.memory.total().value()},
          {"layout",
           {{"dp", layout.dp},
            {"tp", layout.tp},
            {"cp", layout.cp},
            {"pp", layout.pp},
            {"vpp", layout.vpp},
            {"schedule", kScheduleNames[static_cast<std::size_t>(layout.schedule)]},
            {"micro_batch", layout.micro_batch},
            {"zero", layout.zero},
            {"overlap_tensor", layout.overlap_tensor == Choice::on},
            {"recompute", kRecomputeNames[static_cast<std::size_t>(layout.recompute)]}}},
          {"layouts_priced", run->priced}};
}

Json curve_json(const RealCurve& of) {
  Json rows = Json::array();
  for (const RealModel& model : of.models) {
    rows.push_back({{"d_model", model.shape.d_model},
                    {"layers", model.shape.layers},
                    {"batch_tokens", model.shape.batch_tokens},
                    {"idealized_training_flop", model.shape.training.value()},
                    {"run", run_json(model.transformer)}});
  }
  return {{"cluster", of.cluster},
          {"sequence_tokens", of.ideal.setting.sequence},
          {"linear_scaling_end_flop", compute_of(of.first_below())},
          {"last_feasible_flop", compute_of(of.last())},
          {"end", of.ends() ? "no_layout_in_time" : "widest"},
          {"rows", rows}};
}

}  // namespace

std::string real_json(const std::string& title, const std::vector<RealCurve>& curves) {
  LimitsReport ideal{title, {}};
  for (const RealCurve& of : curves) ideal.curves.push_back(of.ideal);
  Json document = Json::parse(limits_json(ideal));
  for (std::size_t i = 0; i < curves.size(); ++i) {
    document["settings"][i]["transformers"] = curve_json(curves[i]);
  }
  return document_text(document);
}

}  // namespace headway
