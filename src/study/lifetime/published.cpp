#include "study/lifetime/published.hpp"

#include <cmath>
#include <utility>

#include "base/document/document.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/statistics.hpp"
#include "forecast/predict/predict.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

PublishedAs published_as(const std::string& name, Fields& fields) {
  return {.name = name,
          .title = fields.text("title"),
          .source = fields.text("source"),
          .remark = fields.text("remark"),
          .layout_published = fields.flag_or("layout_published", false)};
}

// add(name, fields, run, request, problems) for each published run that has the field.
template <class Add>
Problems for_published(std::string_view having, const Add& add) {
  const auto document = embedded_document("runs/published.toml");
  if (!document) return document.problems();
  Problems problems;
  Fields all(*document, problems);
  for (const std::string& name : all.keys()) {
    Fields fields = all.table(name);
    fields.table("run", /*required=*/true);
    if (!fields.has(having) || !problems.empty()) continue;
    const auto request = run_request_from(*document->root.find(name)->find("run"), document->file);
    if (!request) return request.problems();
    auto run = make_run(*request);
    if (!run) return run.problems();
    add(name, fields, std::move(run).value(), *request, problems);
  }
  return problems;
}

// The time of a step that was stated in one of several ways, and that in words.
void read_step(Fields& stated, PublishedStep& step) {
  const Forecast& f = step.forecast;
  // Of a rate: as much longer as it is lower than the predicted one.
  const auto by_rate = [&](double predicted, double published) {
    step.step_time = f.step_time * (predicted / published);
  };
  if (stated.has("time")) {
    step.step_time = stated.quantity<Seconds>("time");
    step.stated = to_text(step.step_time);
  } else if (stated.has("tokens_per_s")) {
    const double rate = stated.number("tokens_per_s");
    by_rate(f.tokens_per_second_per_accelerator, rate);
    step.stated = formatted("%g tokens/s", rate);
  } else if (stated.has("hardware_rate")) {
    const auto rate = stated.quantity<FlopsPerSecond>("hardware_rate");
    by_rate(f.model_flops_per_accelerator.value() * (f.hfu / f.mfu), rate.value());
    step.stated = to_text(rate) + " in all";
  } else {
    const auto rate = stated.quantity<FlopsPerSecond>("model_rate");
    by_rate(f.model_flops_per_accelerator.value(), rate.value());
    step.stated = to_text(rate);
  }
  stated.reject_unknown();
}

}  // namespace

Result<std::vector<PublishedRun>> published_runs() {
  std::vector<PublishedRun> out;
  Problems problems = for_published(
      "accelerator_hours", [&](const std::string& name, Fields& fields, RequestedRun made,
                               const RunRequest& request, Problems& wrong) {
        PublishedRun run;
        static_cast<PublishedAs&>(run) = published_as(name, fields);
        run.tokens = fields.number("tokens");
        run.accelerator_hours = fields.number("accelerator_hours");
        for (const GivenField& field : request) run.fields.emplace_back(field.name, field.text);
        if (fields.has("energy_mwh")) run.megawatt_hours = fields.number("energy_mwh");
        auto given = assume_all_but(run.tokens);
        if (!given) return append(wrong, given.problems());
        auto whole = whole_run(std::move(made), std::move(given).value());
        if (!whole) return append(wrong, whole.problems());
        run.whole = std::move(whole).value();
        out.push_back(std::move(run));
      });
  if (!problems.empty()) return problems;
  return out;
}

std::optional<bool> PublishedStep::inside() const {
  const auto& interval = forecast.step_time_interval;
  if (!interval) return std::nullopt;
  return interval->low <= step_time && step_time <= interval->high;
}

Result<std::vector<PublishedStep>> published_steps() {
  std::vector<PublishedStep> out;
  Problems problems =
      for_published("step", [&](const std::string& name, Fields& fields, const RequestedRun& run,
                                const RunRequest&, Problems& wrong) {
        auto forecast = predict(run);
        if (!forecast) return append(wrong, forecast.problems());
        PublishedStep step;
        static_cast<PublishedAs&>(step) = published_as(name, fields);
        step.why = fields.text_or("why", "");
        step.accelerators = run.layout.ranks();
        step.forecast = std::move(forecast).value();
        Fields stated = fields.table("step");
        read_step(stated, step);
        out.push_back(std::move(step));
      });
  if (!problems.empty()) return problems;
  return out;
}

double error_quantile(const std::vector<PublishedStep>& steps, double q) {
  std::vector<double> errors;
  for (const PublishedStep& step : steps) errors.push_back(std::abs(step.ratio() - 1));
  return quantile(errors, q).value_or(0);
}

}  // namespace headway
