// headway validate: the report as tables for a terminal.
#include "report/validation.hpp"

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/text.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

std::string error_text(double share) {
  return formatted(share < 1000 ? "%.1f" : "%.1e", 100 * share);
}
std::string bias_text(double share) {
  return formatted(share < 1000 ? "%+.1f" : "%+.1e", 100 * share);
}
std::vector<std::string> line_of(const ValidationGroup& group) {
  std::vector<std::string> out = {printable(group.name, 40), std::to_string(group.rows),
                                  std::to_string(group.predicted), std::to_string(group.filled)};
  const auto add = [&](bool known, const std::string& text) { out.push_back(known ? text : "-"); };
  const bool timed = group.step_time.rows > 0, weighed = group.memory.rows > 0;
  add(timed, error_text(group.step_time.median));
  add(timed, error_text(group.step_time.mean));
  add(timed, error_text(group.step_time.p90));
  add(timed, bias_text(group.step_time.bias));
  add(group.mfu_difference.has_value(), formatted("%.1f", group.mfu_difference.value_or(0)));
  add(weighed, error_text(group.memory.median));
  add(weighed, bias_text(group.memory.bias));
  const int ran = group.fits.fits_fits + group.fits.not_fits;
  const int burst = group.fits.fits_not + group.fits.not_not;
  add(ran > 0, formatted("%.1f", 100.0 * group.fits.fits_fits / ran));
  add(burst > 0, formatted("%.1f", 100.0 * group.fits.not_not / burst));
  const RankingSummary& ranking = group.ranking;
  add(ranking.contests > 0, std::to_string(ranking.contests));
  add(ranking.spearman.has_value(), formatted("%.3f", ranking.spearman.value_or(0)));
  add(ranking.regret.has_value(), error_text(ranking.regret.value_or(0)));
  const auto inside = static_cast<double>(group.in_interval);
  add(group.with_interval > 0, error_text(inside / static_cast<double>(group.with_interval)));
  add(group.width.has_value(), formatted("%.2f", group.width.value_or(0)));
  add(group.width_p90.has_value(), formatted("%.2f", group.width_p90.value_or(0)));
  add(group.interval_score.has_value(), formatted("%.2f", group.interval_score.value_or(0)));
  return out;
}

}  // namespace

std::string groups_text(ValidateBy by, const std::vector<ValidationGroup>& groups,
                        const ValidationGroup& all) {
  std::vector<std::vector<std::string>> table = {
      {std::string(kValidateByNames[static_cast<std::size_t>(by)]),
       "rows",
       "predicted",
       "filled",
       "time",
       "mean",
       "p90",
       "bias",
       "MFU",
       "memory",
       "bias",
       "fit",
       "oom",
       "contests",
       "Spearman",
       "regret",
       "inside",
       "width",
       "p90",
       "score"},
      {"",  "",  "",  "", "%", "%", "%", "%", "points", "%",
       "%", "%", "%", "", "",  "%", "%", "",  "",       ""}};
  for (const ValidationGroup& group : groups) table.push_back(line_of(group));
  table.push_back(line_of(all));
  // No row has an interval: no columns for it.
  if (all.with_interval == 0) {
    for (auto& line : table) line.resize(line.size() - 4);
  }
  return aligned(table);
}

std::string verdict_text(const ValidationGroup& group) {
  const Confusion& fits = group.fits;
  std::string out =
      aligned({{"fits in memory", "ran", "out of memory"},
               {"predicted to fit", std::to_string(fits.fits_fits), std::to_string(fits.fits_not)},
               {"predicted not to", std::to_string(fits.not_fits), std::to_string(fits.not_not)}});
  if (const auto accuracy = fits.balanced_accuracy()) {
    out += "balanced accuracy " + error_text(*accuracy) + " %\n";
  }
  if (group.contradicted > 0) {
    out += std::to_string(group.contradicted) +
           " more ran out of memory where a larger run did not: not counted\n";
  }
  return out;
}

std::string skipped_text(const ValidationGroup& all) {
  std::vector<std::vector<std::string>> reasons = {{"skipped", "rows"}};
  for (const auto& [reason, count] : all.skipped) {
    reasons.push_back({printable(reason), std::to_string(count)});
  }
  return aligned(reasons);
}

std::string to_text(const ValidationReport& report) {
  std::string out = groups_text(report.by, report.groups, report.all);
  out += "\n" + verdict_text(report.all);
  if (!report.all.skipped.empty()) out += "\n" + skipped_text(report.all);
  return out;
}

}  // namespace headway
