#include "fit/validation/aims.hpp"

#include <cmath>
#include <string_view>

namespace headway {
namespace {

template <class Test>
ValidationGroup group_where(const ValidationReport& report, Test wanted) {
  std::vector<const ValidationRow*> rows;
  for (const ValidationRow& row : report.rows) {
    if (wanted(row)) rows.push_back(&row);
  }
  return summarise("", rows);
}

std::optional<double> where_any(std::size_t rows, double value) {
  return rows > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

std::vector<Aim> aims_of(const ValidationReport& report) {
  const auto source = [&](std::string_view name) {
    return group_where(report, [&](const ValidationRow& row) { return row.source_key == name; });
  };
  const ValidationGroup tuned =
      group_where(report, [](const ValidationRow& row) { return is_tuned(row.source_key); });
  const ValidationGroup vtrain = source("vtrain"), sweep = source("hf_playbook");
  const ErrorSummary &a = tuned.step_time, &v = vtrain.step_time, &h = sweep.step_time,
                     &m = report.all.memory;
  const Confusion& fits = report.all.fits;
  const auto verdicts =
      static_cast<std::size_t>(fits.fits_fits + fits.fits_not + fits.not_fits + fits.not_not);
  // Of rows whose source was left out of the fit. Coverage of each class: the one farthest from 80
  // %.
  constexpr std::size_t kCounts = 20;  // rows that a source needs to be judged alone
  std::optional<double> left_out, all_left_out, of_scale, of_source;
  std::optional<IntervalQuality> held;
  const auto farther = [](std::optional<double>& worst, const Generalisation& group) {
    if (!group.intervals) return;
    const double coverage = group.intervals->coverage;
    if (!worst || std::abs(coverage - kIntervalCoverage) > std::abs(*worst - kIntervalCoverage)) {
      worst = coverage;
    }
  };
  if (report.intervals) {
    for (const Generalisation& group : report.intervals->classes) {
      if (group.name == "tuned") left_out = group.left_out.median;
      if (group.name == "all") {
        all_left_out = group.left_out.median;
        held = group.intervals;
      }
    }
    for (const Generalisation& group : report.intervals->scales) farther(of_scale, group);
    for (const Generalisation& group : report.intervals->sources) {
      if (group.rows > kCounts) farther(of_source, group);
    }
  }
  const auto of_held = [&](double IntervalQuality::*member) {
    return held ? std::optional((*held).*member) : std::nullopt;
  };
  const std::size_t timed = report.all.step_time.rows;
  // The bounds are those that the project set itself before it had any error to show.
  return {
      {"tuned-median",
       "tuned rows",
       "step time, median error",
       {},
       0.06,
       true,
       a.rows,
       where_any(a.rows, a.median)},
      {"tuned-p90",
       "tuned rows",
       "step time, 90th percentile",
       {},
       0.15,
       true,
       a.rows,
       where_any(a.rows, a.p90)},
      {"tuned-left-out-median",
       "tuned rows, their source left out",
       "step time, median error",
       {},
       0.12,
       true,
       a.rows,
       left_out},
      {"vtrain-mean",
       "vtrain",
       "step time, mean error",
       {},
       0.09,
       true,
       v.rows,
       where_any(v.rows, v.mean)},
      {"hf-playbook-median",
       "hf_playbook",
       "step time, median error",
       {},
       0.15,
       true,
       h.rows,
       where_any(h.rows, h.median)},
      {"hf-playbook-spearman",
       "hf_playbook",
       "Spearman, median contest",
       0.95,
       {},
       false,
       h.rows,
       sweep.ranking.spearman},
      {"hf-playbook-regret",
       "hf_playbook",
       "regret, median contest",
       {},
       0.03,
       true,
       h.rows,
       sweep.ranking.regret},
      {"memory-median",
       "rows with a reported peak",
       "memory, median error",
       {},
       0.07,
       true,
       m.rows,
       where_any(m.rows, m.median)},
      {"fits-accuracy",
       "all rows",
       "fits or not, balanced accuracy",
       0.97,
       {},
       true,
       verdicts,
       fits.balanced_accuracy()},
      {"left-out-median",
       "left-out sources",
       "step time, median error",
       {},
       0.10,
       true,
       timed,
       all_left_out},
      {"left-out-coverage", "left-out sources", "step times inside the 80 % interval", 0.77, 0.83,
       true, timed, of_held(&IntervalQuality::coverage)},
      {"left-out-coverage-of-scale", "left-out sources",
       "the same, class of scale farthest from it", 0.70, 0.90, true, timed, of_scale},
      {"left-out-coverage-of-source", "left-out sources",
       "the same, source of over 20 rows farthest from it", 0.70, 0.90, true, timed, of_source},
      {"left-out-width-median",
       "left-out sources",
       "interval, high over low, median",
       {},
       1.8,
       false,
       timed,
       of_held(&IntervalQuality::width)},
      {"left-out-width-p90",
       "left-out sources",
       "interval, high over low, 90th percentile",
       {},
       2.5,
       false,
       timed,
       of_held(&IntervalQuality::width_p90)},
      {"left-out-score",
       "left-out sources",
       "interval score",
       {},
       1.05,
       false,
       timed,
       of_held(&IntervalQuality::score)},
  };
}

}  // namespace headway
