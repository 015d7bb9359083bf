#include "simulate/replay/ops.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>

#include "base/text.hpp"
#include "base/whole_number.hpp"

namespace headway {
namespace {

constexpr std::array<const char*, 6> kColumns = {"step",        "dp_rank", "stage",
                                                 "micro_batch", "F_s",     "B_s"};
constexpr std::int64_t kMostStages = 65'536, kMostMicroBatches = 1'000'000,
                       kMostSteps = 1'000'000'000'000;
constexpr double kLongest = 1e6;  // s: eleven days for one pass are no time of one

// A row as it stands, in the order of kColumns.
struct ReadRow {
  int line = 0;
  std::int64_t step = 0, dp_rank = 0, stage = 0, micro_batch = 0;
  OpTime time;
};

class RowReader {
 public:
  RowReader(const Csv& table, Problems& problems) : table_(table), problems_(problems) {
    for (std::size_t i = 0; i < kColumns.size(); ++i) at_[i] = table.column(kColumns[i]).value();
  }

  // What is wrong leaves a harmless value.
  ReadRow row(const CsvRow& cells) {
    ReadRow out;
    out.line = cells.line;
    out.step = count(cells, 0, kMostSteps);
    out.dp_rank = count(cells, 1, kMostSteps);
    out.stage = count(cells, 2, kMostStages - 1);
    out.micro_batch = count(cells, 3, kMostMicroBatches - 1);
    out.time = {seconds(cells, 4), seconds(cells, 5)};
    return out;
  }

 private:
  std::int64_t count(const CsvRow& cells, std::size_t column, std::int64_t most) {
    const std::string& text = cells.cells[at_[column]];
    const auto value = whole_number(text);
    if (value && *value >= 0 && *value <= most) return *value;
    fail(cells, column, "is not a whole number from 0 to " + std::to_string(most));
    return 0;
  }
  Seconds seconds(const CsvRow& cells, std::size_t column) {
    const std::string& text = cells.cells[at_[column]];
    const auto value = real_number(text);
    if (value && *value > 0 && *value <= kLongest) return Seconds(*value);
    fail(cells, column, "is not a number of seconds above 0, at most a million");
    return Seconds(1);
  }
  void fail(const CsvRow& cells, std::size_t column, const std::string& what) {
    const std::string& text = cells.cells[at_[column]];
    problems_.push_back({Where(table_.file, cells.line, FieldName(kColumns[column])),
                         text.empty() ? "is missing" : "'" + printable(text) + "' " + what,
                         text.empty() ? Trouble::missing : Trouble::malformed});
  }

  const Csv& table_;
  Problems& problems_;
  std::array<std::size_t, kColumns.size()> at_{};
};

Problems wrong_columns(const Csv& table) {
  const std::vector<std::string> names(kColumns.begin(), kColumns.end());
  Problems out = missing_columns(table, names);
  for (const std::string& column : table.header) {
    if (std::find(names.begin(), names.end(), column) != names.end()) continue;
    out.push_back({Where(table.file, table.header_line),
                   "column '" + printable(column) + "' is not of measured pipelines" +
                       suggestion(column, names),
                   Trouble::unknown});
  }
  return out;
}

std::string named(const ReadRow& row) {
  return "step " + std::to_string(row.step) + ", dp_rank " + std::to_string(row.dp_rank);
}

// The rows of one step of one rank, by stage and micro-batch.
using PipelineRows = std::vector<ReadRow>;

// What is twice there, and the first that is missing of `stages` by `micro_batches`.
void check_whole(const PipelineRows& rows, const MeasuredOps& shape, const std::string& file,
                 Problems& problems) {
  std::int64_t next = 0;  // of the places, stage after stage
  bool gap = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ReadRow& row = rows[i];
    const bool twice =
        i > 0 && rows[i - 1].stage == row.stage && rows[i - 1].micro_batch == row.micro_batch;
    if (twice) {
      problems.push_back({Where(file, row.line),
                          "stage " + std::to_string(row.stage) + ", micro-batch " +
                              std::to_string(row.micro_batch) + " of " + named(row) +
                              " stands in line " + std::to_string(rows[i - 1].line) + " already"});
      continue;
    }
    gap |= row.stage * shape.micro_batches + row.micro_batch != next;
    if (gap) break;
    ++next;
  }
  if (next == shape.stages * shape.micro_batches) return;
  problems.push_back({Where(file, rows.front().line),
                      named(rows.front()) + " lacks stage " +
                          std::to_string(next / shape.micro_batches) + ", micro-batch " +
                          std::to_string(next % shape.micro_batches) + ": others have " +
                          std::to_string(shape.stages) + " stages and " +
                          std::to_string(shape.micro_batches) + " micro-batches",
                      Trouble::missing});
}

}  // namespace

Result<MeasuredOps> read_ops(const Csv& table) {
  Problems problems = wrong_columns(table);
  if (!problems.empty()) return problems;
  if (table.rows.empty()) {
    return Problem{Where(table.file, table.header_line), "has no rows", Trouble::missing};
  }
  RowReader reader(table, problems);
  std::map<std::pair<std::int64_t, std::int64_t>, PipelineRows> pipelines;
  MeasuredOps out;
  for (const CsvRow& cells : table.rows) {
    const ReadRow row = reader.row(cells);
    pipelines[{row.step, row.dp_rank}].push_back(row);
    out.stages = std::max(out.stages, row.stage + 1);
    out.micro_batches = std::max(out.micro_batches, row.micro_batch + 1);
  }
  if (!problems.empty()) return problems;  // what is missing otherwise is not known

  // Ranks of every step, as the first one has them.
  std::vector<std::int64_t> ranks;
  for (const auto& [of, rows] : pipelines) {
    if (of.first == pipelines.begin()->first.first) ranks.push_back(of.second);
  }
  std::map<std::int64_t, std::vector<std::int64_t>> ranks_of_step;
  for (auto& [of, rows] : pipelines) {
    ranks_of_step[of.first].push_back(of.second);
    std::sort(rows.begin(), rows.end(), [](const ReadRow& a, const ReadRow& b) {
      return std::tie(a.stage, a.micro_batch, a.line) < std::tie(b.stage, b.micro_batch, b.line);
    });
    check_whole(rows, out, table.file, problems);
  }
  for (const auto& [step, of_step] : ranks_of_step) {
    if (of_step == ranks) continue;
    problems.push_back({Where(table.file, pipelines[{step, of_step.front()}].front().line),
                        "step " + std::to_string(step) + " has " + std::to_string(of_step.size()) +
                            " ranks, others of another number or name"});
  }
  if (!problems.empty()) return problems;
  for (const auto& [of, rows] : pipelines) {
    MeasuredPipeline pipeline{of.first, of.second, {}};
    pipeline.ops.reserve(rows.size());
    for (const ReadRow& row : rows) pipeline.ops.push_back(row.time);
    out.pipelines.push_back(std::move(pipeline));
  }
  return out;
}

}  // namespace headway
