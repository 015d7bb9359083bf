#include "fit/serving/aims/aims.hpp"

#include <algorithm>

#include "base/formatted.hpp"
#include "cluster/load.hpp"
#include "model/reading/load.hpp"
#include "platform/files.hpp"
#include "study/infer/engines.hpp"

namespace headway {
namespace {

std::optional<double> number_in(Fields& fields, const char* key) {
  const double value = fields.number_or(key, -1);
  return value < 0 ? std::nullopt : std::optional(value);
}

ServedAim aim_in(Fields& fields) {
  ServedAim out;
  out.id = fields.text("id");
  out.what = fields.text("what");
  const std::string quantity = fields.text("quantity");
  const auto found = std::find(kServedQuantities.begin(), kServedQuantities.end(), quantity);
  if (found == kServedQuantities.end()) {
    fields.fail("quantity", "is none of served requests");
  } else {
    out.quantity = static_cast<std::size_t>(found - kServedQuantities.begin());
  }
  out.source = fields.text_or("source", "");
  out.load = fields.text_or("load", "");
  out.below_capacity = fields.flag_or("below_capacity", false);
  out.median = number_in(fields, "median");
  out.p90 = number_in(fields, "p90");
  out.mean = number_in(fields, "mean");
  for (Fields& peer : fields.tables("peers")) {
    out.peers.push_back({peer.text("name"), number_in(peer, "median"), number_in(peer, "p90"),
                         number_in(peer, "mean")});
    peer.reject_unknown();
  }
  fields.reject_unknown();
  return out;
}

PublishedCache cache_in(Fields& fields) {
  PublishedCache out;
  out.model = fields.text("model");
  out.cluster = fields.text("cluster");
  out.weights = fields.text_or("weights", "bf16");
  out.engine = fields.text("engine");
  out.source = fields.text("source");
  out.tp = fields.count("tp");
  out.memory_share = number_in(fields, "memory_share");
  out.tokens = fields.number("tokens");
  fields.reject_unknown();
  return out;
}

// The errors of the rows at hand.
ErrorSummary now_of(const ServedReport& report, const ServedAim& aim) {
  std::vector<double> errors;
  for (const ServedRow& row : report.rows) {
    if (const auto error = row.error(aim.quantity); error && aim.is_of(row)) {
      errors.push_back(*error);
    }
  }
  return summarise(errors);
}

struct Statistic {
  const char* measure;
  std::optional<double> ServedAim::*bound;
  std::optional<double> ServedPeer::*of_peer;
  double ErrorSummary::*of;
};
constexpr Statistic kStatistics[] = {
    {"median error", &ServedAim::median, &ServedPeer::median, &ErrorSummary::median},
    {"90th percentile", &ServedAim::p90, &ServedPeer::p90, &ErrorSummary::p90},
    {"mean error", &ServedAim::mean, &ServedPeer::mean, &ErrorSummary::mean}};

std::string peers_text(const ServedAim& aim, const Statistic& statistic) {
  std::string out;
  for (const ServedPeer& peer : aim.peers) {
    const auto& value = peer.*statistic.of_peer;
    if (!value) continue;
    out += (out.empty() ? "" : ", ") + formatted("%.0f", 100 * *value) + " (" + peer.name + ")";
  }
  return out;
}

void judge_errors(std::vector<JudgedAim>& out, const ServedReport& report, const ServedAim& aim,
                  const ServedLeftOut& left_out) {
  const ErrorSummary now = now_of(report, aim);
  const LeftOutErrors* left = left_out.of(aim.id);
  for (const Statistic& statistic : kStatistics) {
    if (!(aim.*statistic.bound)) continue;
    JudgedAim judged{.id = aim.id,
                     .what = aim.what,
                     .measure = statistic.measure,
                     .at_most = aim.*statistic.bound,
                     .rows = now.rows,
                     .peers = peers_text(aim, statistic)};
    if (now.rows > 0) judged.now = now.*statistic.of;
    if (left != nullptr) {
      judged.left_out_rows = left->no_source.rows;
      judged.no_source = left->no_source.*statistic.of;
      judged.no_model = left->no_model.*statistic.of;
    }
    out.push_back(std::move(judged));
  }
}

// Of each quantity on its own rows; tokens of prompts and answers together say what those of
// answers do.
void judge_intervals(std::vector<JudgedAim>& out, const ServedReport& report,
                     const ServedAims& aims, const ServedLeftOut& left_out) {
  for (const std::size_t quantity : {kLatency, kEachToken, kFirstToken, kOutput}) {
    const std::string name(kServedQuantities[quantity]);
    JudgedAim inside{.id = "inside-" + name,
                     .what = "80 % interval of " + name,
                     .measure = "inside it",
                     .at_least = aims.least_inside,
                     .at_most = aims.most_inside};
    JudgedAim width{.id = "width-" + name,
                    .what = inside.what,
                    .measure = "high over low, median",
                    .at_most = aims.width,
                    .percent = false};
    for (const ServedGroup& group : report.groups) {
      if (group.name != "all" || group.quantity != name || group.with_interval == 0) continue;
      inside.rows = width.rows = group.with_interval;
      inside.now =
          static_cast<double>(group.in_interval) / static_cast<double>(group.with_interval);
      width.now = group.width;
    }
    for (const HeldServing& held : left_out.held) {
      if (held.source != "all" || held.quantity != name) continue;
      inside.left_out_rows = width.left_out_rows = held.rows;
      inside.no_source = held.inside;
      width.no_source = held.width;
    }
    out.push_back(std::move(inside));
    out.push_back(std::move(width));
  }
}

void judge_caches(std::vector<JudgedAim>& out, const ServedAims& aims) {
  for (const PublishedCache& cache : aims.caches) {
    const auto tokens = cache_predicted(cache);
    JudgedAim judged{
        .id = "cache",
        .what = "tokens that fit, " + cache.model + " on " + cache.cluster + " by " + cache.engine,
        .measure = "error",
        .at_most = aims.cache_within,
        .rows = 1};
    if (tokens) judged.now = std::abs(*tokens / cache.tokens - 1);
    out.push_back(std::move(judged));
  }
}

}  // namespace

bool ServedAim::is_of(const ServedRow& row) const {
  return (source.empty() || source == row.source_key) && (load.empty() || load == row.load) &&
         (!below_capacity || (row.of_capacity && *row.of_capacity < kShortOfFull));
}

std::optional<bool> JudgedAim::met() const {
  const auto& decides = no_source ? no_source : now;
  if (!decides) return std::nullopt;
  return (!at_least || *decides >= *at_least) && (!at_most || *decides <= *at_most);
}

Result<ServedAims> served_aims_from(const Document& document) {
  Problems problems;
  Fields root(document, problems);
  ServedAims out;
  for (const char* said : {"date", "source", "kind"}) root.text(said);
  for (Fields& fields : root.tables("aims")) out.aims.push_back(aim_in(fields));
  Fields interval = root.table("interval", /*required=*/true);
  out.least_inside = interval.number("least");
  out.most_inside = interval.number("most");
  out.width = interval.number("width");
  interval.reject_unknown();
  Fields cache = root.table("cache", /*required=*/true);
  out.cache_within = cache.number("within");
  for (Fields& fields : cache.tables("published")) out.caches.push_back(cache_in(fields));
  cache.reject_unknown();
  root.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

const Result<ServedAims>& served_aims() {
  static const Result<ServedAims> read = [] {
    const auto document = embedded_document("serving/aims.toml");
    return document ? served_aims_from(*document) : Result<ServedAims>(document.problems());
  }();
  return read;
}

std::vector<JudgedAim> judged_aims(const ServedReport& report, const ServedAims& aims,
                                   const ServedLeftOut& left_out) {
  std::vector<JudgedAim> out;
  for (const ServedAim& aim : aims.aims) judge_errors(out, report, aim, left_out);
  judge_intervals(out, report, aims, left_out);
  judge_caches(out, aims);
  return out;
}

Result<double> cache_predicted(const PublishedCache& cache) {
  constexpr std::int64_t kContext = 4096;  // layers without a window hold as many whatever it is
  const auto model = load_model(cache.model);
  const auto cluster = load_cluster(cache.cluster);
  const auto& known = engines();
  Problems problems;
  if (!model) append(problems, model.problems());
  if (!cluster) append(problems, cluster.problems());
  if (!known) append(problems, known.problems());
  if (!problems.empty()) return problems;
  Serving serving;
  serving.model = *model;
  serving.cluster = *cluster;
  serving.tp = cache.tp;
  for (const Engine& engine : *known) {
    if (engine.name == cache.engine) serving.engine = engine;
  }
  if (serving.engine.name.empty()) return Problem{"engine", "is not known: " + cache.engine};
  if (cache.memory_share) serving.engine.memory = *cache.memory_share;
  if (!set_weights(serving, cache.weights)) {
    return Problem{"weights", "are of no known format: " + cache.weights};
  }
  return memory_of(serving, kContext).cached_tokens;
}

}  // namespace headway
