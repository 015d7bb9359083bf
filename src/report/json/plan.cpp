#include "report/plan.hpp"

#include "report/json/run.hpp"

namespace headway {
namespace {

Json layout_json(const Plan& plan, const Layout& layout) {
  Run run = plan.run;
  run.layout = layout;
  return run_layout_json(run);
}

Json best_json(const PlannedLayout& at, bool first) {
  const Forecast& f = at.forecast;
  return {{"index", at.index},
          {"layout", run_layout_json(at.run)},
          {"flags", layout_flags(at.run, at.run.layout)},
          {"step_time_s", f.step_time.value()},
          {"interval_step_time_s", interval_json(f.step_time_interval)},
          {"interval_from", nearness_json(at.run, f)},
          {"undecided", first ? Json(nullptr) : Json(at.undecided)},
          {"tokens_per_s_per_gpu", f.tokens_per_second_per_accelerator},
          {"mfu", f.mfu},
          {"memory_bytes", f.memory.total().value()},
          {"memory_that_must_fit_bytes", (f.memory.total() - f.gaps).value()},
          {"capacity_bytes", f.capacity.value()},
          {"energy_j", f.energy.value()},
          {"cost_dollars", at.dollars > 0 ? Json(at.dollars) : Json(nullptr)}};
}

Json point_json(const Plan& plan, const PlanPoint& point, const Layout& layout) {
  return {{"index", point.index},
          {"flags", layout_flags(plan.run, layout)},
          {"step_time_s", point.time.value()},
          {"memory_that_must_fit_bytes", point.memory.value()},
          {"energy_j", point.energy.value()},
          {"layout", layout_json(plan, layout)}};
}

Json point_json(const Plan& plan, const std::optional<PlanPoint>& point, const Layout& layout) {
  return point ? point_json(plan, *point, layout) : Json(nullptr);
}

}  // namespace

std::string plan_json(const Plan& plan) {
  const auto list = [](const auto& items, auto&& as_json) {
    Json out = Json::array();
    for (const auto& item : items) out.push_back(as_json(item));
    return out;
  };
  Json best = Json::array();
  for (const PlannedLayout& at : plan.best) best.push_back(best_json(at, best.empty()));
  Json notes = Json(plan.notes);
  for (const std::string& text : plan.run.assumptions) notes.push_back("assumed: " + text);
  const Json document = {
      {"model", plan.run.model.name},
      {"cluster", plan.run.cluster.name},
      {"gpus", plan.accelerators},
      {"job", run_job_json(plan.run)},
      {"objective", plan.objective},
      {"headroom", plan.headroom},
      {"layouts", plan.layouts},
      {"proven", plan.proven && plan.all},
      {"best", best},
      {"binds", list(plan.bounds,
                     [](const PlanBound& bound) {
                       return Json{{"what", bound.what}, {"share", bound.share}};
                     })},
      {"with_endless_memory",
       plan.roomy ? point_json(plan, plan.roomy->point, plan.roomy->layout) : Json(nullptr)},
      {"without",
       list(plan.without,
            [&](const PlanWithout& at) {
              return Json{{"feature", at.feature}, {"best", point_json(plan, at.best, at.layout)}};
            })},
      {"sensitivity", list(plan.sensitivity,
                           [&](const PlanSensitivity& at) {
                             const auto value = [&](auto&& of) {
                               return at.winner ? Json(of(*at.winner).value()) : Json(nullptr);
                             };
                             return Json{{"change", at.what},
                                         {"step_time_s", value([](auto& p) { return p.time; })},
                                         {"memory_that_must_fit_bytes",
                                          value([](auto& p) { return p.memory; })},
                                         {"energy_j", value([](auto& p) { return p.energy; })},
                                         {"best", point_json(plan, at.best, at.layout)}};
                           })},
      {"pareto",
       list(plan.front,
            [&](const PlannedPoint& at) { return point_json(plan, at.point, at.layout); })},
      {"remedies",
       list(plan.remedies,
            [&](const PlanRemedy& at) {
              return Json{{"change", at.what}, {"best", point_json(plan, at.best, at.layout)}};
            })},
      {"notes", notes}};
  return document_text(document);
}

}  // namespace headway
