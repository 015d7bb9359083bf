#include "fit/validation/aims.hpp"

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
  // Of rows whose source was left out of the fit.
  std::optional<double> left_out, coverage;
  if (report.intervals) {
    for (const Generalisation& group : report.intervals->classes) {
      if (group.name == "tuned") left_out = group.left_out.median;
      if (group.name == "all") coverage = group.coverage;
    }
  }
  // The bounds are those that the project set itself before it had any error to show.
  return {
      {"tuned rows",
       "step time, median error",
       {},
       0.06,
       true,
       a.rows,
       where_any(a.rows, a.median)},
      {"tuned rows",
       "step time, 90th percentile",
       {},
       0.15,
       true,
       a.rows,
       where_any(a.rows, a.p90)},
      {"tuned rows, their source left out",
       "step time, median error",
       {},
       0.12,
       true,
       a.rows,
       left_out},
      {"vtrain", "step time, mean error", {}, 0.09, true, v.rows, where_any(v.rows, v.mean)},
      {"hf_playbook",
       "step time, median error",
       {},
       0.15,
       true,
       h.rows,
       where_any(h.rows, h.median)},
      {"hf_playbook", "Spearman, median contest", 0.95, {}, false, h.rows, sweep.ranking.spearman},
      {"hf_playbook", "regret, median contest", {}, 0.03, true, h.rows, sweep.ranking.regret},
      {"rows with a reported peak",
       "memory, median error",
       {},
       0.07,
       true,
       m.rows,
       where_any(m.rows, m.median)},
      {"all rows",
       "fits or not, balanced accuracy",
       0.97,
       {},
       true,
       verdicts,
       fits.balanced_accuracy()},
      {"left-out sources", "step times inside the 80 % interval", 0.75, 0.85, true,
       report.all.step_time.rows, coverage},
  };
}

}  // namespace headway
