// headway validate --rows of benchmark files.
#include "base/document/csv.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "report/validation.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

std::string cell(const std::optional<double>& value) {
  return value ? formatted("%.9g", *value) : std::string();
}
std::string microseconds(const std::optional<Seconds>& time) {
  return cell(time ? std::optional(time->value() * 1e6) : std::nullopt);
}

// Of steps in seconds, of kernels and calls in microseconds.
std::string time_cell(const std::optional<Seconds>& time, bool steps) {
  return steps ? cell(time ? std::optional(time->value()) : std::nullopt) : microseconds(time);
}

void add_line(std::string& out, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) out += ',';
    out += csv_cell(cells[i]);
  }
  out += '\n';
}

}  // namespace

std::string to_csv(CorpusKind kind, std::span<const BenchmarkRow> rows) {
  const bool steps = kind == CorpusKind::workloads;
  std::string out =
      steps ? "id,source_key,outcome,measured_step_time_s,predicted_step_time_s,error,assumed,"
              "skipped_reason,machine,format,op,size,predicted_fits,interval_low_s,"
              "interval_high_s\n"
            : "id,source_key,outcome,measured_time_us,predicted_time_us,error,assumed,"
              "skipped_reason,machine,format,op,size\n";
  for (const BenchmarkRow& row : rows) {
    std::vector<std::string> cells = {row.id,
                                      row.source_key,
                                      row.outcome,
                                      time_cell(row.measured, steps),
                                      time_cell(row.predicted, steps),
                                      cell(row.error()),
                                      join(row.assumed, "; "),
                                      reason_text(row.skipped_reason, row.skipped_detail),
                                      row.machine,
                                      row.format,
                                      row.op,
                                      row.size};
    if (steps) {
      cells.push_back(row.fits ? *row.fits ? "1" : "0" : "");
      cells.push_back(time_cell(row.least, steps));
      cells.push_back(time_cell(row.most, steps));
    }
    add_line(out, cells);
  }
  return out;
}

}  // namespace headway
