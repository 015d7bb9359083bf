#include "report/json/writer.hpp"
#include "report/laws/phases.hpp"
#include "report/words.hpp"

namespace headway {

std::string phases_json(const PhasesAnswer& answer) {
  JsonWriter json;
  const WholeRun& first = answer.steps.front().whole;
  json.begin_object();
  json.member("model", first.run.model.name);
  json.member("cluster", first.run.cluster.name);
  json.member("time_s", answer.time.value());
  json.member("own_layouts_time_s", answer.own_time.value());
  json.key("one_layout_time_s");
  answer.fixed_time ? json.value(answer.fixed_time->value()) : json.null();
  json.key("phases");
  json.begin_array();
  for (const PhaseStep& step : answer.steps) {
    const WholeRun& whole = step.whole;
    json.begin_object();
    json.member("name", step.name);
    json.member("layout", short_layout_words(whole.run.layout));
    json.member("layout_from", answer.layouts[step.layout].from);
    json.member("gpus", whole.cost.accelerators);
    json.member("seq", whole.run.job.sequence);
    json.member("global_batch", whole.run.job.global_batch);
    json.member("tokens", whole.assumed.tokens);
    json.member("step_time_s", whole.cost.step_time.value());
    json.member("mfu", whole.forecast.mfu);
    json.member("time_s", whole.cost.time.total().value());
    json.member("gpu_hours", whole.cost.accelerator_time.value() / kHour);
    json.member("energy_j", whole.cost.energy.total().value());
    json.member("change_over_s", step.change.value());
    json.key("staying_time_s");
    step.staying ? json.value(step.staying->value()) : json.null();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace headway
