#include "report/validation.hpp"

#include <charconv>

#include "base/document/csv.hpp"
#include "base/text.hpp"
#include "fit/validation/aims.hpp"
#include "report/json/document.hpp"
#include "report/validation_page.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

Json share_json(std::size_t part, std::size_t whole) {
  if (whole == 0) return nullptr;
  return static_cast<double>(part) / static_cast<double>(whole);
}

Json errors_json(const ErrorSummary& error) {
  if (error.rows == 0) return {{"rows", 0}};
  return {{"rows", error.rows},
          {"median_share", error.median},
          {"mean_share", error.mean},
          {"p90_share", error.p90},
          {"bias_share", error.bias}};
}

Json group_json(const ValidationGroup& group) {
  const Confusion& fits = group.fits;
  const auto counted = [](int count) { return static_cast<std::size_t>(count); };
  return {{"name", group.name},
          {"rows", group.rows},
          {"predicted", group.predicted},
          {"filled", group.filled},
          {"skipped", group.skipped},
          {"step_time_error", errors_json(group.step_time)},
          {"mfu_difference_points", known_json(group.mfu_difference)},
          {"memory_error", errors_json(group.memory)},
          {"fits",
           {{"predicted_to_fit_ran", fits.fits_fits},
            {"predicted_to_fit_oom", fits.fits_not},
            {"predicted_not_to_fit_ran", fits.not_fits},
            {"predicted_not_to_fit_oom", fits.not_not},
            {"contradicted_oom", group.contradicted},
            {"ran_right_share",
             share_json(counted(fits.fits_fits), counted(fits.fits_fits + fits.not_fits))},
            {"oom_right_share",
             share_json(counted(fits.not_not), counted(fits.not_not + fits.fits_not))},
            {"balanced_accuracy_share", known_json(fits.balanced_accuracy())}}},
          {"ranking",
           {{"contests", group.ranking.contests},
            {"median_spearman", known_json(group.ranking.spearman)},
            {"median_regret_share", known_json(group.ranking.regret)},
            {"undecided", group.ranking.undecided}}},
          {"interval",
           {{"rows", group.with_interval},
            {"inside_share", share_json(group.in_interval, group.with_interval)},
            {"median_width", known_json(group.width)},
            {"p90_width", known_json(group.width_p90)},
            {"mean_score", known_json(group.interval_score)}}}};
}

Json aim_json(const Aim& aim) {
  return {{"id", aim.id},
          {"of", aim.of},
          {"measure", aim.measure},
          {"unit", aim.percent ? "share" : "1"},
          {"at_least", known_json(aim.at_least)},
          {"at_most", known_json(aim.at_most)},
          {"rows", aim.rows},
          {"now", known_json(aim.now)},
          {"met", aim.now ? Json(aim.met()) : Json(nullptr)}};
}

// The columns of --rows that hold text whatever it looks like.
bool is_text_column(const std::string& name) {
  return name == "id" || name == "source_key" || name == "outcome" || name == "assumed" ||
         name == "skipped_reason";
}

Json rows_json(const ValidationReport& report) {
  Json out = Json::array();
  const auto table = parse_csv(to_csv(report.rows), "rows");
  if (!table) return out;
  for (const CsvRow& row : table->rows) {
    Json cells = Json::object();
    for (std::size_t i = 0; i < table->header.size(); ++i) {
      const std::string& cell = row.cells[i];
      double number = 0;
      const char* const end = cell.data() + cell.size();
      const bool is_number =
          !is_text_column(table->header[i]) && std::from_chars(cell.data(), end, number).ptr == end;
      cells[table->header[i]] = cell.empty() ? Json(nullptr)
                                : is_number  ? Json(number)
                                             : Json(cell);
    }
    out.push_back(std::move(cells));
  }
  return out;
}

}  // namespace

std::string validation_json(const ValidationReport& report, bool rows) {
  Json groups = Json::array(), aims = Json::array();
  for (const ValidationGroup& group : report.groups) groups.push_back(group_json(group));
  for (const Aim& aim : aims_of(report)) aims.push_back(aim_json(aim));
  Json document = {{"by", kValidateByNames[static_cast<std::size_t>(report.by)]},
                   {"groups", groups},
                   {"all", group_json(report.all)},
                   {"aims", aims}};
  if (rows) document["rows"] = rows_json(report);
  return document_text(document);
}

namespace {

Json text_json(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}
Json microseconds(const std::optional<Seconds>& time) {
  return time ? Json(time->value() * 1e6) : Json(nullptr);
}

Json group_json(const BenchmarkGroup& group, const char* machine) {
  return {{machine, group.machine},    {"format", text_json(group.format)},
          {"op", text_json(group.op)}, {"size", text_json(group.size)},
          {"rows", group.rows},        {"predicted", group.predicted},
          {"assumed", group.assumed},  {"time_error", errors_json(group.error)}};
}

// Of steps in seconds, of kernels and calls in microseconds.
Json row_json(const BenchmarkRow& row, bool steps) {
  const auto error = row.error();
  const auto seconds = [](const std::optional<Seconds>& time) {
    return time ? Json(time->value()) : Json(nullptr);
  };
  const std::string reason = reason_text(row.skipped_reason, row.skipped_detail);
  return {{"id", row.id},
          {"source_key", text_json(row.source_key)},
          {"outcome", row.outcome},
          {steps ? "measured_step_time_s" : "measured_time_us",
           steps ? seconds(row.measured) : microseconds(row.measured)},
          {steps ? "predicted_step_time_s" : "predicted_time_us",
           steps ? seconds(row.predicted) : microseconds(row.predicted)},
          {"error", error ? Json(*error) : Json(nullptr)},
          {"assumed", text_json(join(row.assumed, "; "))},
          {"skipped_reason", text_json(reason)},
          {"machine", text_json(row.machine)},
          {"format", text_json(row.format)},
          {"op", text_json(row.op)},
          {"size", text_json(row.size)}};
}

}  // namespace

std::string benchmarks_json(const BenchmarkReport& report, bool rows) {
  const char* machine = report.kind == CorpusKind::collectives ? "system" : "accelerator";
  Json groups = Json::array();
  for (const BenchmarkGroup& group : report.groups) groups.push_back(group_json(group, machine));
  Json document = {{"kind", kCorpusKindNames[static_cast<std::size_t>(report.kind)]},
                   {"groups", groups},
                   {"all", group_json(report.all, machine)},
                   {"skipped", report.skipped}};
  if (rows) {
    Json all = Json::array();
    for (const BenchmarkRow& row : report.rows)
      all.push_back(row_json(row, report.kind == CorpusKind::workloads));
    document["rows"] = all;
  }
  return document_text(document);
}

}  // namespace headway
