#include "report/infer/validation.hpp"

#include <algorithm>
#include <variant>

#include "base/document/csv.hpp"
#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "report/infer/aims.hpp"
#include "report/json/writer.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

// A cell of --rows with its column.
struct Cell {
  std::string column;
  std::variant<std::string, std::optional<double>> value;
};
std::vector<Cell> cells_of(const ServedRow& row) {
  std::vector<Cell> out = {
      {"id", row.id}, {"source_key", row.source_key}, {"outcome", row.ran_out ? "oom" : "ok"}};
  for (std::size_t i = 0; i < kServedQuantities.size(); ++i) {
    const std::string name(kServedQuantities[i]);
    out.push_back({"measured_" + name, row.measured[i]});
    out.push_back({"predicted_" + name, row.predicted[i]});
  }
  out.push_back({"measured_memory_gb", row.measured_memory_gb});
  out.push_back({"predicted_memory_gb", row.predicted_memory_gb});
  out.push_back({"predicted_fits", row.fits ? std::optional<double>(*row.fits) : std::nullopt});
  out.push_back({"error", row.error()});
  const auto interval = row.interval();
  const auto end = [&](double ServedBounds::*of) {
    return interval ? std::optional((*interval).*of) : std::nullopt;
  };
  out.push_back({"interval_low_s", end(&ServedBounds::low)});
  out.push_back({"interval_high_s", end(&ServedBounds::high)});
  out.push_back({"assumed", join(row.assumed, "; ")});
  out.push_back({"skipped_reason", reason_text(row.skipped_reason, row.skipped_detail)});
  out.push_back({"machine", row.machine});
  out.push_back({"model", row.model});
  out.push_back({"engine", row.engine});
  out.push_back({"precision", row.precision});
  out.push_back({"load", row.load});
  out.push_back({"of_capacity", row.of_capacity});
  return out;
}

std::string text_of(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.value)) return *text;
  const auto& number = std::get<std::optional<double>>(cell.value);
  return number ? formatted("%.9g", *number) : std::string();
}

void write(JsonWriter& out, const Cell& cell) {
  const auto* number = std::get_if<std::optional<double>>(&cell.value);
  out.key(cell.column);
  if (number != nullptr && *number) {
    out.value(**number);
  } else if (const std::string text = text_of(cell); !text.empty()) {
    out.value(text);
  } else {
    out.null();
  }
}

}  // namespace

std::string serving_csv(std::span<const ServedRow> rows) {
  std::string out;
  const auto line = [&](const std::vector<Cell>& cells, bool names) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) out += ',';
      out += csv_cell(names ? cells[i].column : text_of(cells[i]));
    }
    out += '\n';
  };
  line(cells_of({}), true);
  for (const ServedRow& row : rows) line(cells_of(row), false);
  return out;
}

UnitTable serving_groups(const ServedReport& report) {
  UnitTable table = {{std::string(kServedByNames[static_cast<std::size_t>(report.by)]), "quantity",
                      "rows", "median", "mean", "p90", "bias", "in 80 %", "width"},
                     {"", "", "", "%", "%", "%", "%", "%", ""}};
  const auto add = [&](const ServedGroup& group) {
    const bool held = group.with_interval > 0;
    table.push_back({printable(group.name, 30), group.quantity, std::to_string(group.error.rows),
                     in_percent(group.error.median), in_percent(group.error.mean),
                     in_percent(group.error.p90), in_percent(group.error.bias, "%+.1f"),
                     held ? in_percent(static_cast<double>(group.in_interval) /
                                       static_cast<double>(group.with_interval))
                          : "",
                     held ? formatted("%.2f", *group.width) : ""});
  };
  std::for_each(report.groups.begin(), report.groups.end(), add);
  std::for_each(report.by_capacity.begin(), report.by_capacity.end(), add);
  return table;
}

static UnitTable repeats_table(const ServedReport& report) {
  UnitTable table = {{"alike in", "quantity", "configurations", "rows", "median", "p90"},
                     {"", "", "", "", "%", "%"}};
  for (const ServedRepeats& each : report.repeats) {
    table.push_back({each.alike, each.quantity, std::to_string(each.configurations),
                     std::to_string(each.rows), in_percent(each.median), in_percent(each.p90)});
  }
  return table;
}

GeneratedBlocks serving_blocks(const ServedReport& report) {
  GeneratedBlocks out;
  for (const ServedBy by : {ServedBy::source, ServedBy::engine, ServedBy::accelerator}) {
    out["serving-by-" + std::string(kServedByNames[static_cast<std::size_t>(by)])] =
        markdown_of(serving_groups(summarise_serving(report.rows, by)), 2);
  }
  out["serving-repeats"] = markdown_of(repeats_table(report), 2);
  return out;
}

std::string serving_validation_text(const ServedReport& report, std::span<const JudgedAim> aims,
                                    const ServedLeftOut& left_out) {
  const auto table = serving_groups(report);
  std::string out = aligned(table, 2) + "\npredicted " + std::to_string(report.predicted) + " of " +
                    std::to_string(report.rows.size()) + " rows; fit " +
                    std::to_string(report.ran_and_fits) + " of " + std::to_string(report.ran) +
                    " that ran, not " + std::to_string(report.ran_out_and_does_not_fit) + " of " +
                    std::to_string(report.ran_out) + " that ran out of memory\n";
  if (report.memory.rows > 0) {
    out += "memory of " + std::to_string(report.memory.rows) + " rows: median error " +
           in_percent(report.memory.median) + " %, 90 % below " + in_percent(report.memory.p90) +
           " %, bias " + in_percent(report.memory.bias, "%+.1f") + " %\n";
  }
  if (!report.repeats.empty()) {
    out += "\nmeasured more than once, largest over smallest less 1\n" +
           aligned(repeats_table(report), 2);
  }
  out += "\n" + served_aims_text(aims, left_out);
  if (report.skipped.empty()) return out;
  std::vector<std::vector<std::string>> reasons = {{"skipped", "rows"}};
  for (const auto& [reason, count] : report.skipped) {
    reasons.push_back({printable(reason), std::to_string(count)});
  }
  return out + "\n" + aligned(reasons);
}

std::string serving_validation_json(const ServedReport& report, std::span<const JudgedAim> aims,
                                    const ServedLeftOut& left_out, bool rows) {
  JsonWriter out;
  out.begin_object();
  out.member("kind", "serving");
  const auto group_member = [&](std::string_view by, const ServedGroup& group) {
    out.begin_object();
    out.member(by, group.name);
    out.member("quantity", group.quantity);
    out.member("rows", group.error.rows);
    out.member("median", group.error.median);
    out.member("mean", group.error.mean);
    out.member("p90", group.error.p90);
    out.member("bias", group.error.bias);
    if (group.with_interval > 0) {
      out.member("in_interval",
                 static_cast<double>(group.in_interval) / static_cast<double>(group.with_interval));
      out.member("width", *group.width);
    }
    out.end_object();
  };
  const std::string_view by = report.by == ServedBy::source
                                  ? "source_key"
                                  : kServedByNames[static_cast<std::size_t>(report.by)];
  out.key("groups");
  out.begin_array();
  for (const ServedGroup& group : report.groups) group_member(by, group);
  out.end_array();
  out.key("by_capacity");
  out.begin_array();
  for (const ServedGroup& group : report.by_capacity) group_member("share", group);
  out.end_array();
  out.key("repeats");
  out.begin_array();
  for (const ServedRepeats& each : report.repeats) {
    out.begin_object();
    out.member("alike", each.alike);
    out.member("quantity", each.quantity);
    out.member("configurations", each.configurations);
    out.member("rows", each.rows);
    out.member("median", each.median);
    out.member("p90", each.p90);
    out.end_object();
  }
  out.end_array();
  write_served_aims(out, aims, left_out);
  out.member("predicted", report.predicted);
  out.key("memory");
  out.begin_object();
  if (report.memory.rows > 0) {
    out.member("rows", report.memory.rows);
    out.member("median", report.memory.median);
    out.member("mean", report.memory.mean);
    out.member("p90", report.memory.p90);
    out.member("bias", report.memory.bias);
  }
  out.member("ran", report.ran);
  out.member("ran_and_fits", report.ran_and_fits);
  out.member("ran_out", report.ran_out);
  out.member("ran_out_and_does_not_fit", report.ran_out_and_does_not_fit);
  out.end_object();
  out.key("skipped");
  out.begin_array();
  for (const auto& [reason, count] : report.skipped) {
    out.begin_object();
    out.member("reason", reason);
    out.member("rows", count);
    out.end_object();
  }
  out.end_array();
  if (rows) {
    out.key("rows");
    out.begin_array();
    for (const ServedRow& row : report.rows) {
      out.begin_object();
      for (const Cell& cell : cells_of(row)) write(out, cell);
      out.end_object();
    }
    out.end_array();
  }
  out.end_object();
  return out.take();
}

}  // namespace headway
