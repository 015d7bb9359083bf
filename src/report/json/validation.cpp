#include "report/validation.hpp"

#include <charconv>

#include "base/document/csv.hpp"
#include "fit/validation/aims.hpp"
#include "fit/validation/report.hpp"
#include "report/json/document.hpp"

namespace headway {
namespace {

Json number_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

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
          {"mfu_difference_points", number_json(group.mfu_difference)},
          {"memory_error", errors_json(group.memory)},
          {"fits",
           {{"predicted_to_fit_ran", fits.fits_fits},
            {"predicted_to_fit_oom", fits.fits_not},
            {"predicted_not_to_fit_ran", fits.not_fits},
            {"predicted_not_to_fit_oom", fits.not_not},
            {"ran_right_share",
             share_json(counted(fits.fits_fits), counted(fits.fits_fits + fits.not_fits))},
            {"oom_right_share",
             share_json(counted(fits.not_not), counted(fits.not_not + fits.fits_not))},
            {"balanced_accuracy_share", number_json(fits.balanced_accuracy())}}},
          {"ranking",
           {{"contests", group.ranking.contests},
            {"median_spearman", number_json(group.ranking.spearman)},
            {"median_regret_share", number_json(group.ranking.regret)}}},
          {"interval",
           {{"rows", group.with_interval},
            {"inside_share", share_json(group.in_interval, group.with_interval)}}}};
}

Json aim_json(const Aim& aim) {
  return {{"of", aim.of},
          {"measure", aim.measure},
          {"unit", aim.percent ? "share" : "1"},
          {"at_least", number_json(aim.at_least)},
          {"at_most", number_json(aim.at_most)},
          {"rows", aim.rows},
          {"now", number_json(aim.now)},
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

}  // namespace headway
