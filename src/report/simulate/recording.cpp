#include "report/simulate/recording.hpp"

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/json/writer.hpp"

namespace headway {
namespace {

std::string time_text(const std::optional<Seconds>& time) {
  return time ? to_text(*time) : "-";
}
std::string change_text(const std::optional<Seconds>& time, const std::optional<Seconds>& from) {
  if (!time || !from || !(*from > Seconds(0))) return "";
  return formatted("%+.2f %%", 100 * (*time / *from - 1));
}

std::string calls_table(const SimulatedRecording& simulated) {
  const bool there = simulated.simulated.has_value();
  std::vector<std::vector<std::string>> rows = {{"  group", "call", "ranks", "calls"}};
  rows.front().push_back("transfer");
  if (there) rows.front().push_back("there");
  rows.front().push_back("waiting");
  if (there) rows.front().push_back("there");
  for (const RecordedCalls& each : simulated.groups) {
    std::vector<std::string> row = {"  " + printable(each.group, 24), std::string(to_name(each.op)),
                                    each.ranks ? std::to_string(*each.ranks) : "-",
                                    count_text(static_cast<double>(each.calls)),
                                    time_text(each.measured)};
    if (there) row.push_back(time_text(each.simulated));
    row.push_back(time_text(each.waited));
    if (there) row.push_back(time_text(each.waits));
    rows.push_back(std::move(row));
  }
  return aligned(rows);
}

void member(JsonWriter& out, std::string_view name, const std::optional<Seconds>& time) {
  if (time) out.member(name, time->value());
}

}  // namespace

std::string simulate_recording_text(const SimulatedRecording& simulated) {
  std::string out = count_text(static_cast<double>(simulated.ranks)) +
                    (simulated.ranks == 1 ? " rank" : " ranks") + " of a run, " +
                    printable(simulated.format, 120);
  if (simulated.steps > 0) {
    out += ", " + std::to_string(simulated.steps) + (simulated.steps == 1 ? " step" : " steps");
  }
  out += "\n\n";
  std::vector<std::vector<std::string>> rows = {
      {"measured", time_text(simulated.measured)},
      {"simulated, on its own network", time_text(simulated.own),
       change_text(simulated.own, simulated.measured)}};
  if (simulated.simulated) {
    const auto& from = simulated.own ? simulated.own : simulated.measured;
    rows.push_back({"simulated, on " + printable(simulated.network, 60),
                    time_text(simulated.simulated), change_text(simulated.simulated, from)});
  }
  out += aligned(rows);
  out += "\ncalls, each once; waiting of all ranks together\n" + calls_table(simulated);
  if (simulated.alone > 0) {
    out +=
        "\n" + count_text(static_cast<double>(simulated.alone)) +
        " calls stand alone: not all of their ranks are recorded, or which calls\nare one cannot "
        "be told; what they waited counts as transfer\n";
  }
  return out;
}

std::string simulate_recording_json(const SimulatedRecording& simulated) {
  JsonWriter out;
  out.begin_object();
  out.member("ranks", simulated.ranks);
  out.member("format", simulated.format);
  if (simulated.steps > 0) out.member("steps", simulated.steps);
  out.member("of_graph", simulated.of_graph);
  out.member("calls_alone", simulated.alone);
  member(out, "measured_s", simulated.measured);
  member(out, "own_network_s", simulated.own);
  if (simulated.simulated) out.member("network", simulated.network);
  member(out, "simulated_s", simulated.simulated);
  out.key("calls");
  out.begin_array();
  for (const RecordedCalls& each : simulated.groups) {
    out.begin_object();
    out.member("group", each.group);
    out.member("op", to_name(each.op));
    if (each.ranks) out.member("ranks", *each.ranks);
    out.member("count", each.calls);
    out.member("bytes", each.bytes.value());
    member(out, "transfer_measured_s", each.measured);
    member(out, "transfer_s", each.simulated);
    member(out, "waiting_measured_s", each.waited);
    member(out, "waiting_s", each.waits);
    out.end_object();
  }
  out.end_array();
  out.end_object();
  return out.take();
}

}  // namespace headway
