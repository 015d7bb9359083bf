#include "report/simulate/step.hpp"

#include <algorithm>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "report/json/writer.hpp"
#include "report/predict.hpp"
#include "report/simulate/parts.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostRanks = 64;

std::string parts_table(const Forecast& forecast, const SimulatedStep& simulated) {
  std::vector<std::vector<std::string>> rows = {
      {"  part", "simulated", "forecast", "critical path"}};
  for (const PartRow& row : kParts) {
    const Seconds ours = simulated.parts[row.part], theirs = forecast.parts[row.part];
    const Seconds critical = simulated.critical[row.part];
    const double share = critical / simulated.placed;
    if (!(ours > Seconds(0)) && !(theirs > Seconds(0)) && !(critical > Seconds(0))) continue;
    rows.push_back({"  " + std::string(row.name), to_text(std::max(Seconds(0), ours)),
                    to_text(theirs), percent_text(std::max(0.0, share))});
  }
  return aligned(rows);
}

std::string ranks_table(const SimulatedStep& simulated) {
  std::vector<std::vector<std::string>> rows = {
      {"  stage", "ends at", "computes", "waits for others"}};
  const std::size_t shown = std::min(simulated.ranks.size(), kMostRanks);
  for (std::size_t r = 0; r < shown; ++r) {
    const RankTimeline& rank = simulated.ranks[r];
    rows.push_back({"  " + std::to_string(r), to_text(rank.end), to_text(rank.parts.compute),
                    to_text(std::max(Seconds(0), rank.parts.bubble))});
  }
  std::string out = aligned(rows);
  if (shown < simulated.ranks.size()) {
    out += "  and " + std::to_string(simulated.ranks.size() - shown) + " more; --json has all\n";
  }
  return out;
}

std::string chosen_table(const std::vector<ChosenCall>& chosen) {
  std::vector<std::vector<std::string>> rows = {
      {"  call", "bytes", "algorithm", "each", "usual ones", "priced"}};
  for (const ChosenCall& call : chosen) {
    rows.push_back({"  " + std::string(to_name(call.group)) + "." + std::string(to_name(call.op)),
                    to_text(call.bytes), call.algorithm, to_text(call.time), to_text(call.priced)});
  }
  return "\ncalls by their algorithms\n" + aligned(rows);
}

void chosen_member(JsonWriter& out, const std::vector<ChosenCall>& chosen) {
  out.key("algorithms");
  out.begin_array();
  for (const ChosenCall& call : chosen) {
    out.begin_object();
    out.member("group", to_name(call.group));
    out.member("op", to_name(call.op));
    out.member("bytes", call.bytes.value());
    out.member("algorithm", call.algorithm);
    out.member("seconds_each", call.time.value());
    out.member("usual_seconds_each", call.usual.value());
    out.member("priced_seconds_each", call.priced.value());
    out.end_object();
  }
  out.end_array();
}

}  // namespace

std::string simulate_step_text(const Run& run, const Forecast& forecast,
                               const SimulatedStep& simulated,
                               const std::vector<ChosenCall>& chosen) {
  const double differs = simulated.step_time / forecast.step_time - 1;
  std::string out = run_heading(run) + "\n";
  out += aligned(
      {{"step time, simulated", to_text(simulated.step_time)},
       {"step time, forecast", to_text(forecast.step_time), formatted("%+.2f %%", 100 * differs)}});
  out += "\nwhere the time goes, on the stage that waits least (" +
         std::to_string(simulated.busiest) + ")\n" + parts_table(forecast, simulated);
  out += "\nstages, until " + to_text(simulated.placed) + "\n" + ranks_table(simulated);
  if (!chosen.empty()) out += chosen_table(chosen);
  return out;
}

std::string simulate_step_json(const Run& run, const Forecast& forecast,
                               const SimulatedStep& simulated,
                               const std::vector<ChosenCall>& chosen) {
  JsonWriter out;
  out.begin_object();
  out.member("model", run.model.name);
  out.member("cluster", run.cluster.name);
  out.member("step_time_s", simulated.step_time.value());
  write_parts(out, "parts_s", simulated.parts);
  out.member("stage", simulated.busiest);
  out.key("forecast");
  out.begin_object();
  out.member("step_time_s", forecast.step_time.value());
  write_parts(out, "parts_s", forecast.parts);
  out.end_object();
  out.member("placed_s", simulated.placed.value());
  out.key("critical_path");
  out.begin_object();
  out.member("ends_on_stage", simulated.last);
  write_parts(out, "parts_s", simulated.critical);
  out.end_object();
  if (!chosen.empty()) chosen_member(out, chosen);
  out.key("stages");
  out.begin_array();
  for (const RankTimeline& rank : simulated.ranks) {
    out.begin_object();
    out.member("end_s", rank.end.value());
    write_parts(out, "parts_s", rank.parts);
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return out.take();
}

}  // namespace headway
