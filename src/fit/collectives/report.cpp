// The errors of measured collectives, as tables for a terminal and for the page.
#include <algorithm>
#include <array>

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/statistics.hpp"
#include "fit/collectives/collectives.hpp"
#include "fit/collectives/gathered.hpp"

namespace headway {
namespace {

constexpr std::array kSizeRanges = {SizeRange::up_to_1mib, SizeRange::up_to_64mib,
                                    SizeRange::above};

// Of rows of one class of size.
CollectiveErrors errors_of(const CollectiveData& data, const std::vector<double>& errors,
                           SizeRange size) {
  std::vector<double> chosen, medians;
  std::map<std::string, std::vector<double>> by_system;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (size_range_of(data.rows[i].bytes) != size) continue;
    chosen.push_back(errors[i]);
    by_system[data.rows[i].system].push_back(errors[i]);
  }
  for (const auto& [system, each] : by_system) medians.push_back(summarise(each).median);
  return {summarise(chosen), quantile(medians, 0.5).value_or(0)};
}

using Cells = std::vector<std::string>;

void append_error(Cells& cells, const ErrorSummary& error) {
  if (error.rows == 0) return;
  cells.push_back(formatted("%.1f", 100 * error.median));
  cells.push_back(formatted("%.1f", 100 * error.p90));
  cells.push_back(formatted("%+.1f", 100 * error.bias));
}

std::vector<Cells> table_of(const std::vector<CollectiveErrorLine>& lines, const char* title) {
  const bool left_out =
      std::any_of(lines.begin(), lines.end(), [](const auto& x) { return x.left_out.rows > 0; });
  std::vector<Cells> rows = {{title, "operation", "size", "rows", "|error| %", "p90 %", "bias %"}};
  if (left_out) {
    for (const char* head : {"left out %", "p90 %", "bias %"}) rows[0].emplace_back(head);
  }
  for (const auto& line : lines) {
    Cells cells = {line.name, line.op, to_name(line.size), std::to_string(line.error.rows)};
    append_error(cells, line.error);
    append_error(cells, line.left_out);
    rows.push_back(std::move(cells));
  }
  return rows;
}

std::vector<Cells> table_of(const std::vector<CollectiveSizeLine>& lines) {
  const bool left_out = !lines.empty() && lines[0].left_out.rows.rows > 0;
  std::vector<Cells> rows = {
      {"size", "rows", "systems", "|error| %", "p90 %", "bias %", "median system %"}};
  if (left_out) {
    for (const char* head : {"left out %", "p90 %", "bias %", "median system %"}) {
      rows[0].emplace_back(head);
    }
  }
  for (const auto& line : lines) {
    Cells cells = {to_name(line.size), std::to_string(line.error.rows.rows),
                   std::to_string(line.systems)};
    for (const CollectiveErrors* each : {&line.error, &line.left_out}) {
      if (each->rows.rows == 0) continue;
      append_error(cells, each->rows);
      cells.push_back(formatted("%.1f", 100 * each->of_systems));
    }
    rows.push_back(std::move(cells));
  }
  return rows;
}

constexpr const char* kFromFewNodes = "32 nodes and more, from 16 and fewer";

}  // namespace

CollectiveReport collective_report(const CollectiveData& data, const std::vector<double>& errors,
                                   const std::vector<double>& left_out) {
  CollectiveReport report;
  detail::Gathered fitted, without;
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    fitted.add(data.rows[i].system, data.rows[i], errors[i]);
    if (!left_out.empty()) without.add(data.rows[i].system, data.rows[i], left_out[i]);
  }
  report.rows = data.rows.size();
  report.lines = fitted.lines();
  const auto lines_without = without.lines();  // of the same rows, so in the same order
  for (std::size_t i = 0; i < lines_without.size(); ++i) {
    report.lines[i].left_out = lines_without[i].error;
  }
  for (const SizeRange size : kSizeRanges) {
    std::set<std::string> systems;
    for (const auto& row : data.rows) {
      if (size_range_of(row.bytes) == size) systems.insert(row.system);
    }
    report.sizes.push_back(
        {size, systems.size(), errors_of(data, errors, size), errors_of(data, left_out, size)});
  }
  report.skipped = data.skipped;
  return report;
}

std::string to_text(const CollectiveReport& report) {
  std::string text = std::to_string(report.rows) +
                     " measured collectives; error = predicted/measured - 1: median and 90 % "
                     "quantile of its size, median with its sign.\n\n";
  text += aligned(table_of(report.sizes)) + "\n" + aligned(table_of(report.lines, "system"), 3);
  if (!report.generalisation.empty()) {
    text += "\n" + aligned(table_of(report.generalisation, kFromFewNodes), 3);
  }
  for (const auto& skipped : report.skipped) {
    text += formatted("\nleft out: %s, %zu rows: %s", skipped.system.c_str(), skipped.rows,
                      skipped.reason.c_str());
  }
  if (!report.skipped.empty()) text += "\n";
  return text;
}

GeneratedBlocks collective_blocks(const CollectiveReport& report) {
  return {{"collectives-sizes", markdown_table(table_of(report.sizes))},
          {"collectives-systems", markdown_table(table_of(report.lines, "system"), 3)},
          {"collectives-nodes", markdown_table(table_of(report.generalisation, kFromFewNodes), 3)}};
}

}  // namespace headway
