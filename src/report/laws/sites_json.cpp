#include <cmath>

#include "report/json/writer.hpp"
#include "report/laws/sites.hpp"

namespace headway {
namespace {

void write_row(JsonWriter& json, const SiteTime& row) {
  const bool reached = std::isfinite(row.tokens);
  json.begin_object();
  json.member("bandwidth_bytes_per_s", row.bandwidth.value());
  json.member("sites", row.sites);
  json.member("method", to_name(row.method));
  json.member("site_step_time_s", row.step.value());
  json.member("exposed_s", row.exposed.value());
  json.member("step_time_s", (row.step + row.exposed).value());
  json.member("sent_bytes", row.sent.value());
  json.key("loss_penalty");
  row.penalty ? json.value(*row.penalty) : json.null();
  json.member("penalty_from", row.penalty_from);
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
  json.member("sync_every", question.sync_every);
  json.key("methods");
  json.begin_array();
  for (const SiteTime& row : answer.rows) write_row(json, row);
  json.end_array();
  json.key("first");
  json.begin_array();
  for (const SiteTime& row : answer.first) write_row(json, row);
  json.end_array();
  json.key("pays_below");
  json.begin_array();
  for (const PaysBelow& each : answer.pays) {
    json.begin_object();
    json.member("method", to_name(each.method));
    json.member("sites", each.sites);
    json.member("pays", each.everywhere ? "at any bandwidth" : each.nowhere ? "at none" : "below");
    json.key("bandwidth_bytes_per_s");
    each.everywhere || each.nowhere ? json.null() : json.value(each.bandwidth.value());
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
