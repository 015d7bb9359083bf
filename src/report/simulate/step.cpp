#include "report/simulate/step.hpp"

#include <algorithm>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "report/json/writer.hpp"
#include "report/predict.hpp"

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

void parts(JsonWriter& out, std::string_view name, const Parts& parts) {
  out.key(name);
  out.begin_object();
  for (const PartRow& row : kParts) out.member(row.name, parts[row.part].value());
  out.end_object();
}

}  // namespace

std::string simulate_step_text(const Run& run, const Forecast& forecast,
                               const SimulatedStep& simulated) {
  const double differs = simulated.step_time / forecast.step_time - 1;
  std::string out = run_heading(run) + "\n";
  out += aligned(
      {{"step time, simulated", to_text(simulated.step_time)},
       {"step time, forecast", to_text(forecast.step_time), formatted("%+.2f %%", 100 * differs)}});
  out += "\nwhere the time goes, on the stage that waits least (" +
         std::to_string(simulated.busiest) + ")\n" + parts_table(forecast, simulated);
  out += "\nstages, until " + to_text(simulated.placed) + "\n" + ranks_table(simulated);
  return out;
}

std::string simulate_step_json(const Run& run, const Forecast& forecast,
                               const SimulatedStep& simulated) {
  JsonWriter out;
  out.begin_object();
  out.member("model", run.model.name);
  out.member("cluster", run.cluster.name);
  out.member("step_time_s", simulated.step_time.value());
  parts(out, "parts_s", simulated.parts);
  out.member("stage", simulated.busiest);
  out.key("forecast");
  out.begin_object();
  out.member("step_time_s", forecast.step_time.value());
  parts(out, "parts_s", forecast.parts);
  out.end_object();
  out.member("placed_s", simulated.placed.value());
  out.key("critical_path");
  out.begin_object();
  out.member("ends_on_stage", simulated.last);
  parts(out, "parts_s", simulated.critical);
  out.end_object();
  out.key("stages");
  out.begin_array();
  for (const RankTimeline& rank : simulated.ranks) {
    out.begin_object();
    out.member("end_s", rank.end.value());
    parts(out, "parts_s", rank.parts);
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return out.take();
}

}  // namespace headway
