#include "report/simulate/step.hpp"

#include <algorithm>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "report/json/writer.hpp"
#include "report/predict.hpp"
#include "report/simulate/parts.hpp"
#include "report/simulate/step_timeline.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostRanks = 64;

// Where ranks differ the path through all of them is not looked for: that of ranks that are alike
// stands there.
std::string parts_table(const Forecast& forecast, const SimulatedStep& simulated,
                        const Parts& of_step, bool alike) {
  std::vector<std::vector<std::string>> rows = {
      {"  part", "simulated", "forecast", alike ? "critical path" : "critical path, all alike"}};
  for (const PartRow& row : kParts) {
    const Seconds ours = of_step[row.part], theirs = forecast.parts[row.part];
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
                               const SimulatedStep& simulated, const RanksAnswer& ranks,
                               const std::vector<ChosenCall>& chosen) {
  const bool alike = !ranks.drawn || !ranks.asked.differ.any();
  const Seconds time = ranks.drawn ? ranks.drawn->mean : simulated.step_time;
  const auto more_than = [&](Seconds other) {
    return formatted("%+.2f %%", 100 * (time / other - 1));
  };
  std::vector<std::vector<std::string>> times = {{"step time, simulated", to_text(time)}};
  if (!alike) {
    times.push_back({"step time, all ranks alike", to_text(simulated.step_time),
                     more_than(simulated.step_time)});
  }
  times.push_back(
      {"step time, forecast", to_text(forecast.step_time), more_than(forecast.step_time)});
  std::string out = run_heading(run) + "\n" + aligned(times);
  out += alike ? "\nwhere the time goes, on the stage that waits least (" +
                     std::to_string(simulated.busiest) + ")\n"
               : "\nwhere the time goes, on the ranks that wait least\n";
  out +=
      parts_table(forecast, simulated, ranks.drawn ? ranks.drawn->parts : simulated.parts, alike);
  if (alike) out += "\nstages, until " + to_text(simulated.placed) + "\n" + ranks_table(simulated);
  if (!chosen.empty()) out += chosen_table(chosen);
  return out + ranks_text(ranks);
}

std::string simulate_step_json(const Run& run, const Forecast& forecast,
                               const SimulatedStep& simulated, const RanksAnswer& ranks,
                               const std::vector<ChosenCall>& chosen, bool timeline) {
  JsonWriter out;
  out.begin_object();
  out.member("model", run.model.name);
  out.member("cluster", run.cluster.name);
  const RanksSummary* drawn = ranks.drawn ? &*ranks.drawn : nullptr;
  out.member("step_time_s", (drawn != nullptr ? drawn->mean : simulated.step_time).value());
  write_parts(out, "parts_s", drawn != nullptr ? drawn->parts : simulated.parts);
  out.member("stage", drawn != nullptr ? drawn->first.busiest_stage() : simulated.busiest);
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
  ranks_members(out, ranks, simulated);
  if (timeline) {
    out.key("timeline");
    write_step_timeline(out, simulated);
  }
  out.end_object();
  return out.take();
}

}  // namespace headway
