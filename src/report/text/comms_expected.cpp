#include "report/comms_expected.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/predict.hpp"
#include "study/traffic/sums.hpp"

namespace headway {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string ratio_text(double ratio) {
  return formatted("%.2f", ratio);
}

double share_of(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

// A count in the mean of all ranks need not be whole.
std::string mean_count_text(double count) {
  if (count >= 100 || std::abs(count - std::round(count)) < 1e-9) return count_text(count);
  return formatted(count > 0 && count < 0.1 ? "%.2g" : "%.1f", count);
}

std::string level_name(const ExpectedCalls& e, std::size_t level) {
  return printable(e.run.cluster.levels[level].name, 20);
}

std::string summary(const ExpectedCalls& e, const TrafficSum& all) {
  const std::string ranks = count_text(static_cast<double>(e.traffic.ranks));
  if (!(all.calls > 0)) return "One rank alone: nothing is sent.\n";
  return "A rank sends " + to_text(all.wire) + " in " + mean_count_text(all.calls) +
         " calls in a step of " + to_text(e.forecast.step_time) + ", " +
         short_count_text(std::round(all.calls / e.forecast.step_time.value())) +
         " a second,\nand receives as much (mean of " + ranks + " ranks; all together " +
         to_text(all.wire * static_cast<double>(e.traffic.ranks)) + "). The calls\ntake " +
         to_text(all.time) + ", of which no computation hides " + to_text(all.exposed) + ".\n";
}

std::string groups_table(const ExpectedCalls& e, const std::vector<TrafficCall>& calls,
                         const TrafficSum& all) {
  Rows rows = {{"  group op", "ranks", "level", "calls", "wire", "share", "exposed"}};
  for (const TrafficSum& sum : sums_by(calls, group_and_operation_of)) {
    const auto first = std::find_if(calls.begin(), calls.end(), [&](const TrafficCall& call) {
      return group_and_operation_of(call) == sum.name;
    });
    rows.push_back({"  " + sum.name, count_text(static_cast<double>(first->ranks)),
                    level_name(e, static_cast<std::size_t>(first->level)),
                    mean_count_text(sum.calls), to_text(sum.wire),
                    percent_text(share_of(sum.wire.value(), all.wire.value())),
                    to_text(sum.exposed)});
  }
  std::string out = "\nwhere the volume lies (bytes a rank sends in a step)\n" + aligned(rows);
  out += "  by phase:";
  int entries = 0;  // four fit on a line
  for (const TrafficSum& sum : sums_by(calls, phase_of)) {
    out += entries == 0 ? " " : entries % 4 == 0 ? ",\n            " : ", ";
    out += sum.name + " " + percent_text(share_of(sum.wire.value(), all.wire.value()));
    ++entries;
  }
  return out + "\n";
}

std::string modules_table(const std::vector<TrafficCall>& calls, const TrafficSum& all) {
  Rows rows = {{"  kind of layer", "calls", "wire", "share", "exposed"}};
  for (const TrafficSum& sum : sums_by_module(calls)) {
    rows.push_back({"  " + sum.name, mean_count_text(sum.calls), to_text(sum.wire),
                    percent_text(share_of(sum.wire.value(), all.wire.value())),
                    to_text(sum.exposed)});
  }
  return "\nwhich layers it is for (messages with several: by their weights)\n" + aligned(rows);
}

std::string levels_table(const ExpectedCalls& e, const std::vector<TrafficCall>& calls,
                         const TrafficSum& all) {
  Rows rows = {{"  level", "through", "a rank's", "share", "each", "at", "busy"}};
  for (const LevelLoad& load : level_loads(calls, e.traffic, e.run.cluster)) {
    const std::string through = load.ports == 0
                                    ? "a port for each rank"
                                    : count_text(static_cast<double>(load.ports)) +
                                          (load.ports == 1 ? " card for " : " cards for ") +
                                          count_text(static_cast<double>(load.sharing)) +
                                          (load.sharing == 1 ? " rank" : " ranks");
    rows.push_back({"  " + level_name(e, load.level), through, to_text(load.wire),
                    percent_text(share_of(load.wire.value(), all.wire.value())),
                    to_text(load.each_port), to_text(load.port_rate), percent_text(load.busy)});
  }
  return "\nover which links (each port or card, in each direction)\n" + aligned(rows, 2);
}

// Sizes in classes of sixteen from 1 KiB.
std::string sizes_table(const std::vector<TrafficCall>& calls, const TrafficSum& all) {
  constexpr int kFirst = 10, kStep = 4;  // 2^10 B = 1 KiB; 2^4 = 16
  struct Class {
    double calls = 0, wire = 0, time = 0;
  };
  std::vector<Class> classes;
  for (const SizeClass& size : size_histogram(calls)) {
    const int at = size.power < kFirst ? 0 : 1 + (size.power - kFirst) / kStep;
    if (static_cast<int>(classes.size()) <= at) classes.resize(static_cast<std::size_t>(at) + 1);
    Class& into = classes[static_cast<std::size_t>(at)];
    into.calls += size.sum.calls;
    into.wire += size.sum.wire.value();
    into.time += size.sum.time.value();
  }
  Rows rows = {{"  message size", "calls", "of calls", "of bytes", "of time"}};
  const auto bound = [](std::size_t at) {
    return to_text(Bytes(std::ldexp(1.0, kFirst + kStep * static_cast<int>(at))));
  };
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (!(classes[i].calls > 0)) continue;
    rows.push_back({i == 0 ? "  below " + bound(0) : "  " + bound(i - 1) + " to " + bound(i),
                    mean_count_text(classes[i].calls),
                    percent_text(share_of(classes[i].calls, all.calls)),
                    percent_text(share_of(classes[i].wire, all.wire.value())),
                    percent_text(share_of(classes[i].time, all.time.value()))});
  }
  return "\nsizes of the messages\n" + aligned(rows);
}

std::string small_lines(const ExpectedCalls& e, const std::vector<TrafficCall>& calls,
                        const TrafficSum& all) {
  const TrafficSum small = small_sum(calls);
  std::string out = "  small (" + e.small + "): " + mean_count_text(small.calls) + " of " +
                    mean_count_text(all.calls) + " calls\n";
  if (!(small.calls > 0)) return out;
  return out + "    " + percent_text(share_of(small.wire.value(), all.wire.value())) +
         " of the bytes, " + percent_text(share_of(small.time.value(), all.time.value())) +
         " of the time of all calls, " +
         percent_text(share_of(small.latency.value(), all.latency.value())) + " of their latency\n";
}

std::string textbook_table(const ExpectedCalls& e) {
  if (e.textbook.empty()) return {};
  Rows rows = {{"  form", "textbook says", "bytes", "framework", "ratio"}};
  for (const TextbookVolume& volume : e.textbook) {
    rows.push_back({"  " + volume.of, volume.formula, to_text(volume.textbook),
                    to_text(volume.framework), ratio_text(volume.framework / volume.textbook)});
  }
  std::string out =
      "\ntextbook beside framework (bytes a rank sends in a step)\n" + aligned(rows, 2);
  for (const TextbookVolume& volume : e.textbook) {
    for (const std::string& reason : volume.reasons) {
      out += "  " + volume.of + ": " + reason + "\n";
    }
  }
  return out;
}

// What computation hides a call, in a word.
std::string_view under(HiddenBy hidden_by) {
  constexpr std::array<std::string_view, kHiddenByNames.size()> kWords = {
      "-",        "block",  "next",        "backward",  "forward",
      "pipeline", "pieces", "other batch", "next steps"};
  return kWords[static_cast<std::size_t>(hidden_by)];
}

std::string class_title(const ExpectedCalls& e, const ClassTraffic& stage) {
  const std::string ranks =
      count_text(static_cast<double>(stage.ranks)) + (stage.ranks == 1 ? " rank" : " ranks");
  if (e.run.layout.pp == 1) return "each of " + ranks;
  std::string out = "stage " + std::to_string(stage.first);
  if (stage.stages > 1) {
    out = "stages " + std::to_string(stage.first) + " to " +
          std::to_string(stage.first + stage.stages - 1);
  }
  return out + " (" + ranks + (stage.sets_pace ? "; sets the pace)" : ")");
}

std::string class_table(const ExpectedCalls& e, const ClassTraffic& stage) {
  constexpr std::size_t kMost = 10;
  std::vector<TrafficCall> calls = stage.calls;
  std::stable_sort(calls.begin(), calls.end(), [](const TrafficCall& a, const TrafficCall& b) {
    return a.each * a.call.count > b.each * b.call.count;
  });
  const std::size_t more = calls.size() > kMost ? calls.size() - kMost : 0;
  calls.resize(calls.size() - more);
  Rows rows = {{"group op", "phase", "size", "count", "each", "exposed", "under"}};
  for (const TrafficCall& call : calls) {
    rows.push_back({group_and_operation_of(call), phase_of(call), to_text(call.call.bytes),
                    count_text(call.call.count), to_text(call.each), to_text(call.exposed),
                    std::string(under(call.call.hidden_by))});
  }
  std::string out = class_title(e, stage) + "\n" + aligned(rows, 2);
  if (more > 0) out += "and " + std::to_string(more) + " more: --csv OUT.csv\n";
  return out;
}

}  // namespace

std::string expected_text(const ExpectedCalls& e) {
  const std::vector<TrafficCall> calls = calls_of_mean_rank(e.traffic);
  const TrafficSum all = sum_of(calls);
  std::string out = run_heading(e.run) + "\n" + summary(e, all);
  if (all.calls > 0) {
    out += groups_table(e, calls, all);
    out += modules_table(calls, all);
    out += levels_table(e, calls, all);
    out += sizes_table(calls, all) + small_lines(e, calls, all);
    out += textbook_table(e);
    out += "\ncalls of each class of rank, the longest first (under: what hides them)\n";
    for (const ClassTraffic& stage : e.traffic.classes) out += class_table(e, stage) + "\n";
  }
  if (!(all.calls > 0)) out += "\n";
  for (const std::string& note : e.notes) out += "note: " + printable(note, 1000) + "\n";
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace headway
