#include "report/published.hpp"

#include "report/json/document.hpp"

namespace headway {

std::string published_json(const std::vector<PublishedRun>& runs) {
  Json out = Json::array();
  for (const PublishedRun& run : runs) {
    Json fields = Json::object();
    for (const auto& [name, text] : run.fields) fields[name] = text;
    out.push_back(
        {{"name", run.name},
         {"title", run.title},
         {"tokens", run.tokens},
         {"layout_published", run.layout_published},
         {"published_gpu_hours", run.accelerator_hours},
         {"predicted_gpu_hours", run.predicted_hours()},
         {"error", run.error()},
         {"goodput", run.whole.cost.time.goodput},
         {"mfu", run.whole.forecast.mfu},
         {"published_energy_mwh", run.megawatt_hours ? Json(*run.megawatt_hours) : Json(nullptr)},
         {"predicted_energy_mwh", run.whole.cost.energy.total().value() / 3.6e9},
         {"source", run.source},
         {"remark", run.remark},
         {"run", fields}});
  }
  return document_text({{"runs", out}});
}

std::string published_steps_json(const std::vector<PublishedStep>& steps) {
  Json out = Json::array();
  for (const PublishedStep& step : steps) {
    const Forecast& f = step.forecast;
    const auto& interval = f.step_time_interval;
    const std::optional<bool> inside = step.inside();
    out.push_back(
        {{"name", step.name},
         {"title", step.title},
         {"gpus", step.accelerators},
         {"layout_published", step.layout_published},
         {"published", step.stated},
         {"published_step_time_s", step.step_time.value()},
         {"predicted_step_time_s", f.step_time.value()},
         {"ratio", step.ratio()},
         {"interval_step_time_s",
          interval ? Json({interval->low.value(), interval->high.value()}) : Json(nullptr)},
         {"inside", inside ? Json(*inside) : Json(nullptr)},
         {"mfu", f.mfu},
         {"memory_bytes", f.memory.total().value()},
         {"capacity_bytes", f.capacity.value()},
         {"fits", f.fits},
         {"source", step.source},
         {"remark", step.remark},
         {"why", step.why}});
  }
  return document_text({{"runs", out},
                        {"median_error", error_quantile(steps, 0.5)},
                        {"worst_error", error_quantile(steps, 1)}});
}

}  // namespace headway
