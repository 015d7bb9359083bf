#include "report/live/replay.hpp"

#include "base/document/csv.hpp"
#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/json/document.hpp"

namespace headway {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string off_by(const std::optional<Seconds>& measured, const std::optional<Seconds>& forecast) {
  if (!measured || !forecast || !(forecast->value() > 0)) return "-";
  return formatted("%+.0f %%", 100 * (*measured / *forecast - 1));
}
std::string or_none(const std::optional<Seconds>& time) {
  return time ? to_text(*time) : "-";
}

std::string csv_or_empty(const std::optional<Seconds>& time) {
  return time ? csv_number(time->value()) : "";
}

std::string steps_text(const Replayed& r) {
  Rows rows = {{"", "forecast", "median", "off by", "shortest", "95 %"}};
  const Seconds median = r.step_at(0.5);
  rows.push_back({r.times.single ? "all calls" : "step", or_none(r.forecast), to_text(median),
                  off_by(median, r.forecast), to_text(r.step_at(0)), to_text(r.step_at(0.95))});
  return aligned(rows);
}

std::string calls_text(const Replayed& r) {
  Rows rows = {{"group", "operation", "ranks", "size", "calls", "forecast", "median", "off by",
                "shortest", "95 %", "waiting"}};
  for (const ReplayedCall& call : r.calls) {
    rows.push_back({printable(call.group, 24), std::string(to_name(call.op)),
                    std::to_string(call.ranks), to_text(call.bytes), formatted("%.4g", call.count),
                    or_none(call.forecast), or_none(call.median),
                    off_by(call.median, call.forecast), or_none(call.least), or_none(call.p95),
                    or_none(call.waiting)});
  }
  return aligned(rows, 2);
}

}  // namespace

std::string replay_text(const Replayed& r) {
  std::string out =
      printable(r.source, 200) + "\n" + std::to_string(r.times.ranks) + " ranks, " +
      printable(r.times.library, 60) + ": " +
      (r.times.single ? "calls one by one" : "the step, computing by " + r.times.compute) + ", " +
      std::to_string(r.times.steps.size()) + " repeats (" + std::to_string(r.times.warm) +
      " more before them dropped)\n\n" + steps_text(r) +
      "\ncalls of one rank; times of the transfer, from when its last rank was there "
      "until\nit was done; waiting (mean) for that rank\n" +
      calls_text(r);
  if (r.recorded != r.expected) {
    out += wrapped("note: of " + std::to_string(r.expected) + " calls " +
                       std::to_string(r.recorded) + " were recorded",
                   0, 2);
  }
  return out;
}

std::string replay_json(const Replayed& r) {
  Json calls = Json::array(), steps = Json::array();
  for (const ReplayedCall& call : r.calls) {
    calls.push_back({{"group", call.group},
                     {"op", to_name(call.op)},
                     {"ranks", call.ranks},
                     {"bytes", call.bytes.value()},
                     {"count", count_json(call.count)},
                     {"samples", call.samples},
                     {"forecast_s", known_json(call.forecast)},
                     {"min_s", known_json(call.least)},
                     {"median_s", known_json(call.median)},
                     {"p95_s", known_json(call.p95)},
                     {"waiting_s", known_json(call.waiting)}});
  }
  for (const double step : r.times.steps) steps.push_back(step);
  return document_text({{"source", r.source},
                        {"mode", r.times.single ? "single" : "step"},
                        {"compute", r.times.compute},
                        {"library", r.times.library},
                        {"ranks", r.times.ranks},
                        {"warm", r.times.warm},
                        {"forecast_step_s", known_json(r.forecast)},
                        {"median_step_s", r.step_at(0.5).value()},
                        {"min_step_s", r.step_at(0).value()},
                        {"p95_step_s", r.step_at(0.95).value()},
                        {"step_s", std::move(steps)},
                        {"expected_calls", r.expected},
                        {"recorded_calls", r.recorded},
                        {"calls", std::move(calls)}});
}

std::string replay_csv(const Replayed& r) {
  std::string out =
      "group,op,ranks,bytes,count,samples,forecast_s,min_s,median_s,p95_s,waiting_s\n";
  for (const ReplayedCall& call : r.calls) {
    out += csv_cell(call.group) + "," + std::string(to_name(call.op)) + "," +
           std::to_string(call.ranks) + "," + csv_number(call.bytes.value()) + "," +
           csv_number(call.count) + "," + std::to_string(call.samples) + "," +
           csv_or_empty(call.forecast) + "," + csv_or_empty(call.least) + "," +
           csv_or_empty(call.median) + "," + csv_or_empty(call.p95) + "," +
           csv_or_empty(call.waiting) + "\n";
  }
  return out;
}

}  // namespace headway
