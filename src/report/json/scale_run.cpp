#include "report/scale_run.hpp"

#include "report/json/run.hpp"

namespace headway {
namespace {

Json cost_json(const WholeRun& whole) {
  const RunCost& cost = whole.cost;
  const RunTime& time = cost.time;
  const Reliability& r = cost.reliability;
  const auto known = [](double value, bool is) { return is ? Json(value) : Json(nullptr); };
  const bool fails = r.mean_time_between.value() > 0;
  const bool language = !whole.run.model.is_network();  // of which laws of loss are
  Json providers = Json::object();
  for (const ProviderRate& each : whole.providers) providers[each.provider] = price_at(each, cost);
  return {{"gpus", cost.accelerators},
          {"tokens", whole.assumed.tokens},
          {"global_batch_tokens", whole.batch},
          {"steps", cost.steps},
          {"step_time_s", cost.step_time.value()},
          {"mfu", whole.forecast.mfu},
          {"tokens_per_s", whole.forecast.tokens_per_second},
          {"fits", whole.forecast.fits},
          {"time_s",
           {{"training", time.training.value()},
            {"checkpoints", time.checkpoints.value()},
            {"lost_work", time.lost_work.value()},
            {"restarts", time.restarts.value()},
            {"waiting", time.waiting.value()},
            {"total", time.total().value()}}},
          {"interval_time_s", {cost.early.value(), cost.late.value()}},
          {"goodput", time.goodput},
          {"interruptions", time.failures},
          {"mean_time_between_interruptions_s", known(r.mean_time_between.value(), fails)},
          {"checkpoint",
           {{"bytes", cost.checkpoint.value()},
            {"blocking_s", r.checkpoint.value()},
            {"hidden_s", r.hidden_write.value()},
            {"interval_s", cost.interval.value()},
            {"best_interval_s", known(best_interval(r).value(), fails)},
            {"young_interval_s", known(young_interval(r).value(), fails)},
            {"daly_interval_s", known(daly_interval(r).value(), fails)}}},
          {"spare_nodes", cost.spare_nodes},
          {"gpu_hours", cost.accelerator_time.value() / 3600},
          {"spare_gpu_hours", cost.spare_time.value() / 3600},
          {"power_w_per_gpu", cost.accelerator_power.value()},
          {"energy_j",
           {{"training", cost.energy.training.value()},
            {"checkpoints", cost.energy.checkpoints.value()},
            {"lost_work", cost.energy.lost_work.value()},
            {"restarts", cost.energy.restarts.value()},
            {"waiting", cost.energy.waiting.value()},
            {"spares", cost.energy.spares.value()},
            {"total", cost.energy.total().value()}}},
          {"co2_kg", cost.carbon},
          {"price_usd", known(cost.price, cost.price > 0)},
          {"price_usd_by_provider", providers},
          {"loss_nats_per_token", known(whole.loss, language)},
          {"critical_batch_tokens", known(whole.critical_batch, language)},
          {"token_factor", known(token_factor(whole.batch, whole.critical_batch), language)},
          {"step_factor", known(step_factor(whole.batch, whole.critical_batch), language)}};
}

}  // namespace

std::string scale_run_json(const WholeRun& whole, const ScaledRuns& scaled) {
  Json out = {{"model", whole.run.model.name}, {"cluster", whole.run.cluster.name}};
  out.update(cost_json(whole));
  out["interval_step_time_s"] = interval_json(whole.forecast.step_time_interval);
  out["interval_from"] = nearness_json(whole.run, whole.forecast);
  out["by_gpus"] = Json::array();
  for (const ScaledRun& each : scaled.runs) {
    Json entry = {{"factor", each.factor}, {"batch_grown", each.grown}};
    entry.update(cost_json(each.whole));
    out["by_gpus"].push_back(entry);
  }
  out["left_out"] = scaled.left_out;
  out["assumptions"] = Json::array();
  for (const AssumedValue& value : whole.values) {
    out["assumptions"].push_back(
        {{"name", value.name}, {"value", value.value}, {"source", value.source}});
  }
  out["notes"] = whole.forecast.notes;
  for (const std::string& assumption : whole.run.assumptions) out["notes"].push_back(assumption);
  return document_text(out);
}

}  // namespace headway
