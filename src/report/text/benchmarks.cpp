// headway validate of benchmark files: the report as tables for a terminal.
#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "fit/workloads/workloads.hpp"
#include "report/validation.hpp"
#include "report/validation_page.hpp"

namespace headway {
namespace {

using Line = std::vector<std::string>;

Line line_of(const BenchmarkGroup& group) {
  Line line = {printable(group.machine, 40), printable(group.format, 20),
               printable(group.op, 30),      group.size,
               std::to_string(group.rows),   std::to_string(group.predicted),
               std::to_string(group.assumed)};
  for (const double share : {group.error.median, group.error.mean, group.error.p90}) {
    line.push_back(group.error.rows > 0 ? in_percent(share) : "-");
  }
  line.push_back(group.error.rows > 0 ? in_percent(group.error.bias, "%+.1f") : "-");
  return line;
}

}  // namespace

std::string to_text(const BenchmarkReport& report) {
  const bool joined = report.kind == CorpusKind::collectives;
  std::vector<Line> table = {{joined ? "system" : "accelerator", "format", "operation", "size",
                              "rows", "predicted", "assumed", "time", "mean", "p90", "bias"},
                             {"", "", "", "", "", "", "", "%", "%", "%", "%"}};
  for (const BenchmarkGroup& group : report.groups) table.push_back(line_of(group));
  table.push_back(line_of(report.all));
  std::string out = aligned(table, 4);
  if (report.skipped.empty()) return out;
  std::vector<Line> reasons = {{"skipped", "rows"}};
  for (const auto& [reason, count] : report.skipped) {
    reasons.push_back({printable(reason), std::to_string(count)});
  }
  return out + "\n" + aligned(reasons);
}

GeneratedBlocks workload_blocks(std::span<const BenchmarkRow> rows) {
  std::string out =
      "| source | network | rows | predicted | median % | p90 % | bias % | up to 8: rows | median "
      "% "
      "|\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const WorkloadGroup& group : workload_groups(rows)) {
    out += "| " + printable(group.source) + " | " + printable(group.network) + " | " +
           std::to_string(group.rows) + " | " + std::to_string(group.all.rows) + " | " +
           in_percent(group.all.median) + " | " + in_percent(group.all.p90) + " | " +
           in_percent(group.all.bias, "%+.1f") + " | " + std::to_string(group.node.rows) + " | " +
           (group.node.rows > 0 ? in_percent(group.node.median) : "") + " |\n";
  }
  std::string spreads =
      "| source | accelerators | rows | below | above | inside % "
      "|\n|---|---|---:|---:|---:|---:|\n";
  for (const WorkloadSpread& spread : workload_spreads(rows)) {
    spreads += "| " + printable(spread.source) + (spread.node ? " | up to 8 | " : " | more | ") +
               std::to_string(spread.rows) +
               formatted(" | %.3f | %.3f | ", spread.below, spread.above) +
               in_percent(spread.inside) + " |\n";
  }
  std::string left =
      "| left out | rows | median % | bias % | inside the others' intervals % "
      "|\n|---|---:|---:|---:|---:|\n";
  for (const WorkloadLeftOut& each : workloads_left_out(rows)) {
    left += "| " + printable(each.what) + " | " + std::to_string(each.error.rows) + " | " +
            in_percent(each.error.median) + " | " + in_percent(each.error.bias, "%+.1f") + " | " +
            in_percent(each.inside) + " |\n";
  }
  std::string scaling =
      "| network | accelerator | round | accelerators | kept of the rate on 8, measured % | "
      "predicted % |\n|---|---|---|---:|---:|---:|\n";
  for (const WorkloadScaling& each : workload_scaling(rows)) {
    scaling += "| " + printable(each.network) + " | " + printable(each.machine) + " | " +
               printable(each.round) + " | " + std::to_string(each.ranks) + " | " +
               in_percent(each.measured) + " | " + in_percent(each.predicted) + " |\n";
  }
  return {{"workloads", out},
          {"workload-spreads", spreads},
          {"workloads-left-out", left},
          {"workload-scaling", scaling}};
}

}  // namespace headway
