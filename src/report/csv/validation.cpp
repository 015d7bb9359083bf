// headway validate --rows.
#include "report/validation.hpp"

#include "base/document/csv.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

// Shortest of at most 9 significant digits; empty where there is no value.
std::string cell(const std::optional<double>& value) {
  if (!value) return {};
  return formatted("%.9g", *value);
}

}  // namespace

std::string to_csv(std::span<const ValidationRow> rows) {
  std::string out =
      "id,source_key,outcome,n_accel,measured_step_time_s,predicted_step_time_s,error,"
      "measured_memory_gb,predicted_memory_gb,predicted_fits,interval_low_s,interval_high_s,"
      "assumed,skipped_reason,accelerator,framework,model,parallelism,source\n";
  for (const ValidationRow& row : rows) {
    const std::string reason = reason_text(row.skipped_reason, row.skipped_detail);
    const std::string cells[] = {
        row.id,
        row.source_key,
        row.outcome,
        row.n_accel > 0 ? std::to_string(row.n_accel) : "",
        cell(row.measured_step_time),
        cell(row.predicted_step_time),
        cell(row.error()),
        cell(row.measured_memory),
        cell(row.predicted_memory),
        row.predicted_fits ? (*row.predicted_fits ? "1" : "0") : "",
        cell(row.interval_low),
        cell(row.interval_high),
        join(row.assumed, "; "),
        reason,
        row.accelerator,
        row.framework,
        row.model_name,
        row.parallelism,
        row.source,
    };
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
