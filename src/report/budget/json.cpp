// limits --budget --json.
#include "report/budget/budget.hpp"
#include "report/json/document.hpp"

namespace headway {
namespace {

Json spread_json(const LowHigh& of) {
  return Json::array({of.low, of.high});
}

Json cost_json(const MachineCost& of) {
  return {{"dollars", spread_json(of.dollars)}, {"power_w", spread_json(of.watts)}};
}

Json bill_json(const Bill& of) {
  return {{"accelerators", of.accelerators},  {"total", cost_json(of.total())},
          {"servers", cost_json(of.servers)}, {"inner", cost_json(of.inner)},
          {"inner_tiers", of.inner_tiers},    {"fabric", cost_json(of.outer)},
          {"fabric_tiers", of.outer_tiers}};
}

Json choice_json(const PricedMachine& of) {
  Json out = {{"domain", of.domain}, {"fabric_bytes_per_s", of.fabric.value()}};
  if (!of.run) return out;
  const limits::Degrees degrees = of.run->layout.degrees();
  out["n_gpus"] = of.run->gpus;
  out["run_time_s"] = of.run->duration.value();
  out["utilization"] = of.run->utilization;
  out["binds"] = limits::kPartNames[limits::largest_loss(of.run->step.parts)];
  out["layout"] = {{"dp", degrees.data},         {"tp_model", degrees.tensor_model},
                   {"tp_ff", degrees.tensor_ff}, {"pp", degrees.pipeline},
                   {"ep", degrees.expert},       {"micro_batches", of.run->layout.micro_batches}};
  out["bill"] = bill_json(of.bill);
  return out;
}

Json model_json(const limits::Shape& of) {
  return {{"d_model", of.d_model}, {"layers", of.layers}, {"training_flop", of.training.value()}};
}

Json answer_json(const BudgetAnswer& of) {
  Json choices = Json::array();
  for (const PricedMachine& each : of.choices) choices.push_back(choice_json(each));
  return {{"name", of.setting.name},
          {"machine", of.setting.machine.name},
          {"duration_s", of.setting.duration.value()},
          {"budget_dollars", of.dollars ? Json(*of.dollars) : Json(nullptr)},
          {"budget_power_w", of.power ? Json(of.power->value()) : Json(nullptr)},
          {"least", of.by_power ? "power" : "money"},
          {"model", model_json(of.shape)},
          {"next_model", of.next ? model_json(*of.next) : Json(nullptr)},
          {"best", of.best ? Json(*of.best) : Json(nullptr)},
          {"best_at_ends", of.best_at_ends},
          {"fastest", of.fastest ? choice_json(*of.fastest) : Json(nullptr)},
          {"choices", choices},
          {"source", of.sources}};
}

}  // namespace

std::string budget_json(const std::vector<BudgetAnswer>& answers) {
  Json settings = Json::array();
  for (const BudgetAnswer& answer : answers) settings.push_back(answer_json(answer));
  return document_text(Json{{"settings", settings}});
}

}  // namespace headway
