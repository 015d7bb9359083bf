#include "report/scale_sweep.hpp"

#include "report/json/run.hpp"

namespace headway {
namespace {

template <class T, class Write>
Json or_null(const std::optional<T>& value, Write write) {
  return value ? Json(write(*value)) : Json(nullptr);
}

Json loss_json(const TimeToLoss& loss) {
  return {{"tokens", loss.tokens},
          {"time_s", loss.time.value()},
          {"training_time_s", loss.own_time.value()},
          {"best_global_batch", loss.best_batch},
          {"best_training_time_s", loss.best_time.value()}};
}

Json point_json(const SweepPoint& point) {
  const Forecast& made = point.forecast;
  const RunCost& cost = point.cost;
  return {{"label", point.label},
          {"value", point.value},
          {"model", point.run.model.name},
          {"cluster", point.run.cluster.name},
          {"gpus", point.run.layout.ranks()},
          {"seq", point.run.job.sequence},
          {"global_batch", point.run.job.global_batch},
          {"precision", point.run.job.recipe->name},
          {"layout", layout_json(point.run.layout, micro_batches(point.run.job, point.run.layout))},
          {"step_time_s", made.step_time.value()},
          {"interval_step_time_s", interval_json(made.step_time_interval)},
          {"interval_from", nearness_json(point.run, made)},
          {"parts_s", parts_json(made.parts)},
          {"communication_s", point.communication.value()},
          {"exposed_communication_s", point.exposed.value()},
          {"tokens_per_s", made.tokens_per_second},
          {"tokens_per_s_per_gpu", made.tokens_per_second_per_accelerator},
          {"model_flops_per_s_per_gpu", made.model_flops_per_accelerator.value()},
          {"mfu", made.mfu},
          {"hfu", made.hfu},
          {"memory_bytes_total", made.memory.total().value()},
          {"power_w_per_gpu", cost.accelerator_power.value()},
          {"tokens_per_j", point.tokens_per_joule},
          {"time_s", cost.time.total().value()},
          {"goodput", cost.time.goodput},
          {"gpu_hours", cost.accelerator_time.value() / 3600},
          {"energy_j", cost.energy.total().value()},
          {"co2_kg", cost.carbon},
          {"price_usd", cost.price > 0 ? Json(cost.price) : Json(nullptr)},
          {"marginal_tokens_per_s_per_gpu",
           or_null(point.marginal, [](const MarginalReturn& m) { return m.per_accelerator; })},
          {"marginal_tokens_per_s_per_w",
           or_null(point.marginal, [](const MarginalReturn& m) { return m.per_watt; })},
          {"to_loss", or_null(point.to_loss, loss_json)},
          {"notes", made.notes}};
}

Json series_json(const SweepSeries& series) {
  Json out = {{"name", series.name}, {"points", Json::array()}, {"left_out", Json::array()}};
  for (const SweepPoint& point : series.points) out["points"].push_back(point_json(point));
  for (const LeftOut& left : series.left_out) {
    out["left_out"].push_back({{"label", left.label}, {"reason", left.reason}});
  }
  out["diminished_at_gpus"] = or_null(
      series.diminished, [&](std::size_t i) { return series.points[i].run.layout.ranks(); });
  return out;
}

Json crossover_json(const Crossover& at) {
  return {{"gpus", at.accelerators},
          {"at_once", at.at_once},
          {"pure", point_json(at.pure)},
          {"split", point_json(at.split)}};
}

}  // namespace

std::string scale_sweep_json(const SweepAnswer& answer) {
  const SweepQuestion& question = answer.question;
  Json out = {{"axis", to_name(question.axis)},
              {"model", question.base.model.name},
              {"cluster", question.base.cluster.name},
              {"gpus", question.base.layout.ranks()},
              {"seq", question.base.job.sequence},
              {"global_batch", question.base.job.global_batch},
              {"tokens", question.given.tokens},
              {"threshold", question.threshold},
              {"critical_batch_tokens", answer.same_loss.critical_batch},
              {"series", Json::array()}};
  for (const SweepSeries& series : answer.series) out["series"].push_back(series_json(series));
  if (question.axis == SweepAxis::layout) {
    out["crossover"] = or_null(answer.crossover, crossover_json);
    out["crossover_searched_gpus"] = {answer.crossover_from, answer.crossover_to};
  }
  out["assumptions"] = Json::array();
  for (const AssumedValue& value : question.assumed) {
    out["assumptions"].push_back(
        {{"name", value.name}, {"value", value.value}, {"source", value.source}});
  }
  out["notes"] = question.base.assumptions;
  return document_text(out);
}

}  // namespace headway
