#include "report/jobs/jobs.hpp"
#include "report/json/writer.hpp"

namespace headway {
namespace {

void write_optional(JsonWriter& json, std::string_view name, std::optional<double> value) {
  json.key(name);
  value ? json.value(*value) : json.null();
}

void write_row(JsonWriter& json, const JobsAnswer& answer, const PolicyAtLoad& row) {
  std::int64_t jobs = 0, blocked = 0, refused = 0, hopeless = 0;
  for (const StreamOutcome& seed : row.seeds) {
    jobs += static_cast<std::int64_t>(seed.jobs);
    blocked += static_cast<std::int64_t>(seed.blocked);
    refused += static_cast<std::int64_t>(seed.refused);
    hopeless += static_cast<std::int64_t>(seed.hopeless);
  }
  json.begin_object();
  json.member("policy", row.policy);
  json.member("interval_s", row.interval.value());
  json.member("jobs", jobs);
  json.member("blocked", blocked);
  json.member("refused", refused);
  json.member("hopeless", hopeless);
  json.member("blocking", row.blocking());
  json.key("blocking_quantiles");
  json.begin_array();
  for (const double q : {0.1, 0.5, 0.9}) json.value(row.blocking_quantile(q));
  json.end_array();
  json.key("blocking_by_seed");
  json.begin_array();
  for (const StreamOutcome& seed : row.seeds) json.value(seed.blocking());
  json.end_array();
  json.member("utilisation", row.utilisation());
  write_optional(json, "jct_p10_s", row.time_quantile(0.1));
  write_optional(json, "jct_p50_s", row.time_quantile(0.5));
  write_optional(json, "jct_p90_s", row.time_quantile(0.9));
  if (const auto slowdown = row.slowdown_mean()) {
    json.member("slowdown_mean", *slowdown);
    write_optional(json, "slowdown_p90", row.slowdown_quantile(0.9));
    json.member("late", row.late());
  }
  if (answer.costs) {
    const FleetView view = fleet_view(row, answer.servers, *answer.costs);
    json.member("end_s", row.end().value());
    json.member("failures", row.failures());
    json.member("energy_j", view.energy.value());
    json.member("idle_energy_j", view.idle.value());
    write_optional(json, "price_usd", view.price > 0 ? std::optional(view.price) : std::nullopt);
  }
  json.end_object();
}

void write_gain(JsonWriter& json, const PolicyGain& gain) {
  json.begin_object();
  json.member("policy", gain.policy);
  json.member("than", gain.than);
  json.member("interval_s", gain.interval.value());
  json.member("blocking_less", gain.mean);
  write_optional(json, "blocking_less_low", gain.low);
  write_optional(json, "blocking_less_high", gain.high);
  json.end_object();
}

}  // namespace

std::string jobs_json(const JobsAnswer& answer) {
  JsonWriter json;
  json.begin_object();
  json.member("machine", answer.title);
  json.member("servers", answer.servers);
  json.member("seeds", answer.seeds);
  json.member("as_published", answer.published);
  json.member("hopeless", answer.hopeless);
  json.key("policies");
  json.begin_array();
  for (const PolicyAtLoad& row : answer.rows) write_row(json, answer, row);
  json.end_array();
  json.key("gains");
  json.begin_array();
  for (const PolicyGain& gain : answer.gains) write_gain(json, gain);
  json.end_array();
  json.end_object();
  return json.take();
}

std::string replayed_json(const ReplayedStream& stream) {
  JsonWriter json;
  json.begin_object();
  json.key("jobs");
  json.begin_array();
  for (const ReplayedJob& job : stream.jobs) {
    json.begin_object();
    json.member("job", job.job);
    json.member("degree", job.outcome.degree);
    json.member("blocked", job.outcome.blocked);
    json.key("jct");
    job.outcome.blocked ? json.null() : json.value(job.outcome.time.value());
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace headway
