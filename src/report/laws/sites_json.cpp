#include <cmath>

#include "method/methods.hpp"
#include "report/json/writer.hpp"
#include "report/laws/sites.hpp"

namespace headway {
namespace {

void write_row(JsonWriter& json, const SitesAnswer& answer, const SiteTime& row) {
  const bool reached = std::isfinite(row.tokens);
  json.begin_object();
  json.member("bandwidth_bytes_per_s", row.bandwidth.value());
  json.member("sites", row.sites);
  json.member("method", text_of(answer.question.methods[row.method]));
  json.member("step_time_s", row.step.value());
  json.member("exposed_s", row.exposed.value());
  json.member("sent_bytes", row.sent.value());
  json.member("energy_j", row.energy.value());
  json.key("loss_penalty");
  row.penalty ? json.value(*row.penalty) : json.null();
  json.member("penalty_from", row.penalty_from);
  if (row.mixing) {
    json.member("spectral_gap", row.mixing->gap);
    json.member("agree_steps", row.mixing->agree);
    json.member("transient_steps", row.mixing->transient);
  }
  json.key("tokens");
  reached ? json.value(row.tokens) : json.null();
  json.key("time_s");
  reached ? json.value(row.time.value()) : json.null();
  json.end_object();
}

}  // namespace

std::string sites_json(const SitesAnswer& answer) {
  const SitesQuestion& question = answer.question;
  JsonWriter json;
  json.begin_object();
  json.member("model", question.run.model.name);
  json.member("cluster", question.run.cluster.name);
  json.member("gpus_per_site", question.run.layout.ranks());
  json.member("tokens", question.given.tokens);
  json.member("target_loss", answer.loss);
  json.member("loss_law", question.given.loss.name);
  json.member("parameters", answer.parameters);
  json.key("methods");
  json.begin_array();
  for (const SiteTime& row : answer.rows) write_row(json, answer, row);
  json.end_array();
  json.key("first");
  json.begin_array();
  for (const SiteTime& row : answer.first) write_row(json, answer, row);
  json.end_array();
  json.key("pays_below");
  json.begin_array();
  for (const PaysBelow& each : answer.pays) {
    json.begin_object();
    json.member("method", text_of(question.methods[each.method]));
    json.member("sites", each.sites);
    json.member("pays", each.everywhere ? "at any bandwidth" : each.nowhere ? "at none" : "below");
    json.key("bandwidth_bytes_per_s");
    each.everywhere || each.nowhere ? json.null() : json.value(each.bandwidth.value());
    json.end_object();
  }
  json.end_array();
  json.key("local_updates");
  json.begin_array();
  for (const LocalUpdateAdvice& each : answer.advice) {
    json.begin_object();
    json.member("replicas", each.replicas);
    json.member("batch_over_data_parallel", each.batch_ratio);
    json.member("inner_rate", each.inner_rate);
    json.key("outer_rate");
    each.outer_rate ? json.value(*each.outer_rate) : json.null();
    json.member("fit", each.joint ? "of any number of replicas" : "of this number of replicas");
    json.member("extrapolated", answer.advice_extrapolated);
    json.end_object();
  }
  json.end_array();
  json.key("left_out");
  json.begin_array();
  for (const std::string& each : answer.left_out) json.value(each);
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace headway
