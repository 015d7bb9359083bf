#include "simulate/pipeline/stages.hpp"

#include <algorithm>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "base/written_count.hpp"

namespace headway {
namespace {

// A thousand years: sums of what is longer lose the digits of what is shorter.
constexpr Seconds kLongest(3.2e10);

}  // namespace

ChunkTime chunk_time(const StagePasses& stage) {
  return {stage.forward, stage.backward + stage.weight, stage.weight};
}

std::string time_problem(Seconds time, Least least) {
  if (time.value() < 0) return "is negative";
  if (time.value() == 0 && least == Least::something) return "must be greater than zero";
  if (time > kLongest) return "is longer than a thousand years";
  return {};
}

Result<std::vector<ChunkTime>> read_stages(const Csv& table, std::optional<std::int64_t> stages) {
  std::vector<std::string> columns = {"stage"};
  for (const StageTimeRow& row : kStageTimes) columns.emplace_back(row.name);
  Problems problems = missing_columns(table, columns);
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    if (std::find(columns.begin(), columns.end(), table.header[i]) != columns.end()) continue;
    problems.push_back({Where(table.file, table.header_line),
                        "column '" + printable(table.header[i]) + "' is not of stages" +
                            suggestion(table.header[i], columns),
                        Trouble::unknown});
  }
  if (!problems.empty()) return problems;

  const std::int64_t count = stages.value_or(static_cast<std::int64_t>(table.rows.size()));
  std::vector<ChunkTime> out(table.rows.size());
  std::vector<int> line_of(table.rows.size(), 0);
  const auto cell = [&](const CsvRow& row, std::string_view column) -> const std::string& {
    return row.cells[*table.column(column)];
  };
  if (static_cast<std::int64_t>(table.rows.size()) != count) {
    problems.push_back({Where(table.file, table.header_line),
                        "has " + std::to_string(table.rows.size()) + " stages; the pipeline has " +
                            std::to_string(count)});
  }
  for (const CsvRow& row : table.rows) {
    const auto where = [&](std::string_view column) {
      return Where(table.file, row.line, FieldName(column));
    };
    std::array<Seconds, 3> times;
    for (std::size_t i = 0; i < kStageTimes.size(); ++i) {
      const auto time =
          parse_quantity<Seconds>(cell(row, kStageTimes[i].name), where(kStageTimes[i].name));
      if (!time) {
        append(problems, time.problems());
      } else if (std::string wrong = time_problem(*time, kStageTimes[i].least); !wrong.empty()) {
        problems.push_back({where(kStageTimes[i].name), std::move(wrong)});
      } else {
        times[i] = *time;
      }
    }
    const std::string& named = cell(row, "stage");
    const auto stage = written_count(named);
    if (!stage || *stage < 0 || *stage >= count) {
      problems.push_back({where("stage"), "'" + printable(named) + "' is not a stage from 0 to " +
                                              std::to_string(count - 1)});
      continue;
    }
    const auto at = static_cast<std::size_t>(*stage);
    if (at >= out.size()) continue;  // rows are missing, which is said
    if (line_of[at] > 0) {
      problems.push_back({where("stage"), std::to_string(*stage) + " stands in line " +
                                              std::to_string(line_of[at]) + " already"});
      continue;
    }
    line_of[at] = row.line;
    out[at] = chunk_time({times[0], times[1], times[2]});
  }
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway
