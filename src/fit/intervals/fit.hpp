// How well the constants of whole steps predict what they were not fitted on, and the intervals
// that follow.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "base/formatted.hpp"
#include "fit/intervals/leave_out.hpp"
#include "fit/statistics.hpp"
#include "fit/steps/fit.hpp"
#include "forecast/intervals/intervals.hpp"

namespace headway {

/// How 80 % intervals hold runs that their constants did not see. The spread is that of all that
/// was left out, or (by others) that of what was left out of other sources.
struct IntervalQuality {
  double coverage = 0, coverage_by_others = 0;  // share of the runs inside
  double width = 0, width_p90 = 0;              // high over low: median, 90th percentile
  double score = 0, score_by_others = 0;        // mean [INTERVAL-2]
};

/// Its numbers, as files call them and in the order of tables.
struct IntervalQualityRow {
  std::string_view name;
  double IntervalQuality::*member;
  bool is_share = false;
};
constexpr std::array<IntervalQualityRow, 6> kIntervalQualities = {
    {{"coverage", &IntervalQuality::coverage, true},
     {"coverage_by_others", &IntervalQuality::coverage_by_others, true},
     {"width", &IntervalQuality::width},
     {"width_p90", &IntervalQuality::width_p90},
     {"score", &IntervalQuality::score},
     {"score_by_others", &IntervalQuality::score_by_others}}};

/// The cells of a table that are those numbers; "-" in each where there are none. `share` writes
/// one.
template <class Share>
void add_qualities(const std::optional<IntervalQuality>& quality, const Share& share,
                   std::vector<std::string>& line) {
  for (const IntervalQualityRow& row : kIntervalQualities) {
    if (!quality) {
      line.emplace_back("-");
    } else {
      const double value = (*quality).*row.member;
      line.push_back(row.is_share ? share(value) : formatted("%.2f", value));
    }
  }
}

/// The errors of the step times of a group of runs by constants fitted on everything, and by
/// constants fitted without the group.
struct Generalisation {
  std::string name;
  std::size_t rows = 0;
  ErrorSummary fitted, left_out;
  std::optional<IntervalQuality> intervals = {};  // of forecasts without the group
};

struct IntervalFit {
  IntervalModel model;
  std::vector<Generalisation> classes;  // of sources: those that a vendor tuned, all
  std::vector<Generalisation> scales, sources, accelerators;
};

/// The errors of what was left out, and the intervals that follow.
IntervalFit fit_intervals(const std::vector<MeasuredRun>& runs, const LeftOutForecasts& left_out);

/// The sources whose tables hold their vendor's best layouts.
bool is_tuned(std::string_view source);

/// A table for a terminal.
std::string to_text(const IntervalFit& fit);

/// The text of data/calibration/intervals.toml, and what it says. `date` as 2026-11-21.
std::string to_toml(const IntervalFit& fit, const std::string& date);
Result<IntervalFit> interval_fit_from(const Document& document);
const Result<IntervalFit>& embedded_interval_fit();

}  // namespace headway
