// How far the step time is off in each group of runs: quantiles, tuned rows apart from all others.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/draw/plot.hpp"
#include "base/text.hpp"
#include "fit/validation/aims.hpp"
#include "report/charts/validation.hpp"

namespace headway {
namespace {

constexpr std::size_t kFewest = 5;  // runs that quantiles are shown of; of fewer, each is a dot

struct Series {
  std::string label;
  std::string_view colour;
  bool tuned;
};
const std::array<Series, 2> kSeries = {
    {{"tuned runs", kBlue, true}, {"sweeps and all others", kVermilion, false}}};

// Predicted over measured of the runs of one group in one series.
std::vector<double> ratios_of(const std::vector<const ValidationRow*>& rows, bool tuned) {
  std::vector<double> out;
  for (const ValidationRow* row : with_error(rows)) {
    if (is_tuned(row->source_key) == tuned) out.push_back(1 + *row->error());
  }
  return out;
}

// The range of the axis: all middle four fifths, at least a factor of two to either side.
Scale scale_of(const std::vector<RowGroup>& groups, double from, double to) {
  std::vector<double> ends = {0.5, 2};
  for (const auto& [name, rows] : groups) {
    for (const Series& series : kSeries) {
      const std::vector<double> ratios = ratios_of(rows, series.tuned);
      for (const double q : {0.1, 0.9}) {
        if (const auto value = quantile(ratios, q)) ends.push_back(std::clamp(*value, 0.02, 50.0));
      }
    }
  }
  return log_scale(ends, from, to);
}

void draw_bar(Svg& svg, const Scale& x, double y, const std::vector<double>& ratios,
              std::string_view colour) {
  const std::string fill = "fill=\"" + std::string(colour) + "\"";
  if (ratios.size() < kFewest) {
    std::vector<Point> dots;
    for (const double ratio : ratios) dots.push_back({x.at(ratio), y});
    svg.dots(dots, 2.5, colour);
    return;
  }
  const auto bar = [&](double low, double high, double thick, const std::string& style) {
    const double left = x.at(*quantile(ratios, low)), right = x.at(*quantile(ratios, high));
    svg.rect({left, y - thick / 2}, right - left, thick, style);
  };
  bar(0.1, 0.9, 3, fill + " opacity=\".55\"");
  bar(0.25, 0.75, 9, fill);
  const double median = x.at(*quantile(ratios, 0.5));
  svg.line({median, y - 6}, {median, y + 6}, "stroke=\"#fff\" stroke-width=\"4\"");
  svg.line({median, y - 6}, {median, y + 6}, "stroke=\"#24292f\" stroke-width=\"2\"");
}

}  // namespace

std::string plot_errors(const ValidationReport& report, ValidateBy by) {
  std::vector<RowGroup> groups;
  for (RowGroup& group : rows_by(report.rows, by)) {
    if (!with_error(group.second).empty()) groups.push_back(std::move(group));
  }
  const bool scale = by == ValidateBy::scale;
  constexpr double kWidth = 760, kTop = 92, kHigh = 34, kLeft = 190, kRight = 620;
  const double bottom = kTop + kHigh * static_cast<double>(std::max<std::size_t>(1, groups.size()));
  const std::string what = scale ? "number of accelerators" : "parallelism";
  Svg svg(kWidth, bottom + 48, "Predicted over measured step time by " + what);
  draw_heading(svg, "Error of the step time by " + what,
               "Mark: median. Thick bar: middle half of the runs, thin bar: middle four fifths. "
               "Grey: within 20 %.");
  std::vector<LegendEntry> legend;
  for (const Series& series : kSeries) legend.push_back({series.label, series.colour});
  draw_legend(svg, {16, 68}, legend);

  const Scale x = scale_of(groups, kLeft, kRight);
  svg.rect({x.at(0.8), kTop}, x.at(1.2) - x.at(0.8), bottom - kTop, "fill=\"#dfe5ec\"");
  for (const double value : ticks(x)) {
    svg.line({x.at(value), kTop}, {x.at(value), bottom}, "stroke=\"#e7eaed\"");
    svg.text({x.at(value), bottom + 14}, tick_label(value),
             "text-anchor=\"middle\" fill=\"#6e7781\"");
  }
  svg.line({x.at(1), kTop}, {x.at(1), bottom}, "stroke=\"#6e7781\"");
  svg.rect({kLeft, kTop}, kRight - kLeft, bottom - kTop, "fill=\"none\" stroke=\"#c9d1d9\"");
  for (std::size_t column = 0; column < kSeries.size(); ++column) {
    const std::string style =
        "text-anchor=\"end\" fill=\"" + std::string(kSeries[column].colour) + "\"";
    const double right = kRight + 60 + 60 * static_cast<double>(column);
    svg.text({right, kTop - 8}, column == 0 ? "tuned" : "others", style);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const double middle = kTop + kHigh * (static_cast<double>(i) + 0.5);
      const auto ratios = ratios_of(groups[i].second, kSeries[column].tuned);
      if (ratios.empty()) continue;
      svg.text({right, middle + 4}, tick_label(static_cast<double>(ratios.size())), style);
      draw_bar(svg, x, middle + (column == 0 ? -7 : 7), ratios, kSeries[column].colour);
    }
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double top = kTop + kHigh * static_cast<double>(i);
    svg.text({kLeft - 8, top + kHigh / 2 + 4}, printable(groups[i].first, 30),
             "text-anchor=\"end\"");
    if (i > 0) svg.line({kLeft, top}, {kRight, top}, "stroke=\"#e7eaed\"");
  }
  svg.text({kRight + 120, bottom + 14}, "runs", "text-anchor=\"end\" fill=\"#6e7781\"");
  svg.text({(kLeft + kRight) / 2, bottom + 34}, "predicted / measured step time",
           "text-anchor=\"middle\"");
  return svg.str();
}

}  // namespace headway
