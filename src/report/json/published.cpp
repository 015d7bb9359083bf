#include "report/scale_published.hpp"

#include "report/json/document.hpp"

namespace headway {

std::string published_json(const std::vector<PublishedRun>& runs) {
  Json out = Json::array();
  for (const PublishedRun& run : runs) {
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
         {"remark", run.remark}});
  }
  return document_text({{"runs", out}});
}

}  // namespace headway
