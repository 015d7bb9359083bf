#include "report/validation_page.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/columns.hpp"
#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "base/quantity_text.hpp"
#include "fit/validation/aims.hpp"
#include "report/validation.hpp"

namespace headway {
namespace {

using Line = std::vector<std::string>;
using Lines = std::vector<Line>;

std::string percent(const std::optional<double>& share) {
  return share ? percent_text(*share) : "-";
}

std::string fenced(std::string text) {
  // A name must not end the block.
  for (char& c : text) {
    if (c == '`') c = '\'';
  }
  return "```\n" + text + "```\n";
}

std::string aim_text(const Aim& aim) {
  const auto shown = [&](double value) {
    return aim.percent ? formatted("%.0f %%", 100 * value) : formatted("%.2f", value);
  };
  if (aim.at_least && aim.at_most) return shown(*aim.at_least) + " to " + shown(*aim.at_most);
  return aim.at_most ? "at most " + shown(*aim.at_most) : "at least " + shown(*aim.at_least);
}

std::string aims_block(const ValidationReport& report) {
  Lines lines = {{"class", "measure", "aim", "rows", "now", "met"}};
  for (const Aim& aim : aims_of(report)) {
    const std::string now = !aim.now      ? "not measured"
                            : aim.percent ? percent(*aim.now)
                                          : formatted("%.3f", *aim.now);
    lines.push_back({aim.of, aim.measure, aim_text(aim), std::to_string(aim.rows), now,
                     !aim.now    ? "-"
                     : aim.met() ? "yes"
                                 : "no"});
  }
  return markdown_table(lines, 3);
}

std::string groups_block(const ValidationReport& report, ValidateBy by) {
  return fenced(groups_text(by, groups_of(report.rows, by), report.all));
}

std::string left_out_block(const ValidationReport& report) {
  if (!report.intervals) return "No fit without some of the rows has been made yet.\n";
  const auto table = [](const char* of, const std::vector<Generalisation>& groups) {
    Lines lines = {{of, "rows", "median in the fit", "p90", "median left out", "p90", "bias",
                    "inside 80 % interval", "by others", "width", "p90", "score", "by others"}};
    for (const Generalisation& group : groups) {
      std::vector<std::string> line = {group.name,
                                       std::to_string(group.rows),
                                       percent(group.fitted.median),
                                       percent(group.fitted.p90),
                                       percent(group.left_out.median),
                                       percent(group.left_out.p90),
                                       formatted("%+.1f %%", 100 * group.left_out.bias)};
      add_qualities(group.intervals, percent, line);
      lines.push_back(std::move(line));
    }
    return markdown_table(lines, 1);
  };
  const IntervalFit& fit = *report.intervals;
  return table("each source of", fit.classes) + "\n" + table("ranks", fit.scales) + "\n" +
         table("source", fit.sources) + "\n" + table("accelerator", fit.accelerators);
}

std::string ranking_block(const ValidationReport& report) {
  std::map<std::string, std::vector<Contest>> by_source;
  std::vector<const ValidationRow*> rows;
  for (const ValidationRow& row : report.rows) rows.push_back(&row);
  for (Contest& contest : contests_of(rows)) by_source[contest.source_key].push_back(contest);
  Lines lines = {{"source", "contests", "layouts", "Spearman, median", "lowest tenth",
                  "regret, median", "p90", "worst"}};
  for (const auto& [source, contests] : by_source) {
    std::size_t layouts = 0;
    std::vector<double> correlations, regrets;
    for (const Contest& contest : contests) {
      layouts += contest.layouts;
      if (contest.spearman) correlations.push_back(*contest.spearman);
      if (contest.regret) regrets.push_back(*contest.regret);
    }
    const auto shown = [](const std::optional<double>& value) {
      return value ? formatted("%.3f", *value) : "-";
    };
    lines.push_back({source, std::to_string(contests.size()), std::to_string(layouts),
                     shown(quantile(correlations, 0.5)), shown(quantile(correlations, 0.1)),
                     percent(quantile(regrets, 0.5)), percent(quantile(regrets, 0.9)),
                     percent(quantile(regrets, 1))});
  }
  return markdown_table(lines, 1);
}

// How far off, the same for a factor too slow and one too fast.
double distance(const ValidationRow& row) {
  return std::abs(std::log(*row.predicted_step_time / *row.measured_step_time));
}

std::string worst_rows_block(const ValidationReport& report) {
  constexpr std::size_t kOfEachSource = 2;
  Lines lines = {
      {"source", "row", "model", "machine", "split", "measured s", "predicted s", "error"}};
  for (auto& [source, rows] : rows_by(report.rows, ValidateBy::source)) {
    std::vector<const ValidationRow*> timed;
    for (const ValidationRow* row : rows) {
      if (row->error()) timed.push_back(row);
    }
    std::stable_sort(timed.begin(), timed.end(),
                     [](const auto* a, const auto* b) { return distance(*a) > distance(*b); });
    timed.resize(std::min(timed.size(), kOfEachSource));
    for (const ValidationRow* row : timed) {
      lines.push_back({source, row->id, row->model_name,
                       std::to_string(row->n_accel) + " x " + row->accelerator, row->parallelism,
                       formatted("%.3g", *row->measured_step_time),
                       formatted("%.3g", *row->predicted_step_time),
                       formatted("%+.0f %%", 100 * *row->error())});
    }
  }
  return markdown_table(lines, 5);
}

}  // namespace

GeneratedBlocks validation_blocks(const ValidationReport& report) {
  const TextColumns page(0);  // of no terminal: the same whoever renews it
  GeneratedBlocks out = {
      {"aims", aims_block(report)},
      {"memory", fenced(verdict_text(report.all))},
      {"left-out", left_out_block(report)},
      {"ranking", ranking_block(report)},
      {"worst-rows", worst_rows_block(report)},
      {"skipped", fenced(skipped_text(report.all))},
  };
  for (std::size_t i = 0; i < kValidateByNames.size(); ++i) {
    out["by-" + std::string(kValidateByNames[i])] =
        groups_block(report, static_cast<ValidateBy>(i));
  }
  return out;
}

}  // namespace headway
