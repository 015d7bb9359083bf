#include "report/comms_compared.hpp"

#include "base/document/csv.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "trace/analysis/call_table.hpp"

namespace headway {
namespace {

std::string optional_number(std::optional<double> value) {
  if (!value) return {};
  return formatted("%.9g", *value);
}

}  // namespace

std::string compared_csv(const Compared& c) {
  std::string out =
      "group,recorded_group,match,expected_op,measured_op,phase,ranks,expected_count,"
      "measured_count,expected_bytes,measured_bytes,expected_s,model_s,transfer_s,waiting_s,"
      "timed_count,timed_model_s,exposed_s,model_bus_bytes_per_s,measured_bus_bytes_per_s\n";
  for (const ReconciledRow& row : c.reconciliation.rows) {
    const bool timed = row.timed_count > 0;
    const auto value = [](const auto& quantity) {
      return quantity ? std::optional(quantity->value()) : std::nullopt;
    };
    const auto when_timed = [&](Seconds s) {
      return timed ? std::optional(s.value()) : std::nullopt;
    };
    const std::string cells[] = {
        csv_cell(group_text(row, c.recording)),
        csv_cell(printable(group_name(c.recording, row.recorded), 200)),
        std::string(to_name(row.match)),
        row.expected_count > 0 ? std::string(to_name(row.expected_op)) : "",
        row.measured_count > 0 ? std::string(to_name(row.measured_op)) : "",
        row.expected_count > 0 ? std::string(to_name(row.phase)) : "",
        row.ranks > 0 ? std::to_string(row.ranks) : "",
        optional_number(row.expected_count),
        optional_number(row.measured_count),
        optional_number(row.expected_bytes.value()),
        row.sized ? optional_number(row.measured_bytes.value()) : "",
        optional_number(row.expected.value()),
        optional_number(value(row.model)),
        optional_number(when_timed(row.transfer)),
        optional_number(when_timed(row.waiting)),
        optional_number(row.timed_count),
        optional_number(when_timed(row.timed_model)),
        optional_number(value(row.exposed)),
        optional_number(value(row.model_bus)),
        optional_number(value(row.measured_bus))};
    for (std::size_t i = 0; i < std::size(cells); ++i) out += (i > 0 ? "," : "") + cells[i];
    out += "\n";
  }
  return out;
}

}  // namespace headway
