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

}  // namespace

std::string to_csv(std::span<const BenchmarkRow> rows) {
  std::string out =
      "id,source_key,outcome,measured_time_us,predicted_time_us,error,assumed,skipped_reason,"
      "machine,format,op,size\n";
  for (const BenchmarkRow& row : rows) {
    const std::string reason = reason_text(row.skipped_reason, row.skipped_detail);
    const std::string cells[] = {row.id,
                                 row.source_key,
                                 row.outcome,
                                 microseconds(row.measured),
                                 microseconds(row.predicted),
                                 cell(row.error()),
                                 join(row.assumed, "; "),
                                 reason,
                                 row.machine,
                                 row.format,
                                 row.op,
                                 row.size};
    bool first = true;
    for (const std::string& each : cells) {
      if (!first) out += ',';
      first = false;
      out += csv_cell(each);
    }
    out += '\n';
  }
  return out;
}

}  // namespace headway
