#include <cmath>

#include "report/json/writer.hpp"
#include "report/laws/batch.hpp"

namespace headway {
namespace {

void write_optional(JsonWriter& json, std::string_view name, std::optional<double> value) {
  json.key(name);
  value ? json.value(*value) : json.null();
}

void write_law(JsonWriter& json, const StepsLaw& law) {
  json.begin_object();
  json.member("name", law.name);
  json.member("unit", law.unit);
  json.member("progress", law.progress);
  json.member("critical_batch", law.critical);  // null: batches cost nothing
  json.member("rms", law.rms);
  json.member("points", static_cast<std::int64_t>(law.points));
  json.member("least_batch", law.least_batch);
  json.member("most_batch", law.most_batch);
  write_optional(json, "kept_aside_error", law.kept_aside_error);
  json.member("source", law.source);
  json.end_object();
}

void write_batch(JsonWriter& json, const BatchRow& row) {
  json.begin_object();
  json.member("batch", row.batch);
  json.member("progress", row.progress);
  json.member("steps", row.steps);
  json.member("regime", words_of(row.regime));
  json.member("outside_points", row.outside);
  json.key("time_s");
  row.time ? json.value(row.time->value()) : json.null();
  json.end_object();
}

void write_target(JsonWriter& json, const TimedTarget& row) {
  const bool known = row.reason.empty();
  json.begin_object();
  json.member("id", row.run.id);
  json.member("benchmark", row.run.benchmark);
  json.member("round", row.run.round);
  json.member("global_batch", row.run.batch);
  json.member("measured_time_s", row.run.time.value());
  write_optional(json, "predicted_time_s", known ? std::optional(row.time.value()) : std::nullopt);
  write_optional(json, "measured_samples",
                 row.run.samples > 0 ? std::optional(row.run.samples) : std::nullopt);
  write_optional(json, "predicted_samples", known ? std::optional(row.samples) : std::nullopt);
  write_optional(json, "evaluation_share", known ? std::optional(row.evaluation) : std::nullopt);
  json.member("outside_points", row.outside);
  json.member("reason", row.reason);
  json.end_object();
}

}  // namespace

std::string batch_json(const BatchAnswer& answer) {
  JsonWriter json;
  json.begin_object();
  json.key("laws");
  json.begin_array();
  for (const StepsLaw& law : answer.laws) write_law(json, law);
  json.end_array();
  json.key("without");
  json.begin_array();
  for (const std::string& each : answer.without) json.value(each);
  json.end_array();
  json.key("batches");
  json.begin_array();
  for (const BatchRow& row : answer.batches) write_batch(json, row);
  json.end_array();
  json.member("sparse_samples", answer.factors.samples);
  json.member("sparse_steps", answer.factors.steps);
  json.key("sparse_work");
  if (answer.sparsity) {
    const SparseShares work = sparse_shares(*answer.sparsity);
    json.begin_object();
    json.member("training_flops", work.products);
    json.member("inference_flops", work.inference);
    json.member("weight_bytes", work.weights);
    json.member("exchanged_bytes", work.exchange);
    json.end_object();
  } else {
    json.null();
  }
  json.key("targets");
  json.begin_array();
  for (const TimedTarget& row : answer.targets) write_target(json, row);
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace headway
