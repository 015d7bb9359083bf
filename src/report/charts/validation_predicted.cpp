// Predicted against measured step time, a panel for each source.
#include <algorithm>
#include <array>

#include "base/draw/plot.hpp"
#include "base/text.hpp"
#include "cluster/load.hpp"
#include "report/charts/validation.hpp"

namespace headway {
namespace {

constexpr std::array<std::string_view, 4> kTitleColours = {kVermilion, kBlue, kGreen, kPurple};

// The place of a row's architecture among the titles; all others stand last.
std::size_t title_of(const ValidationRow& row) {
  const auto& titles = architecture_titles();
  const auto found = std::find(titles.begin(), titles.end(), row.architecture);
  return static_cast<std::size_t>(std::min(found, titles.end() - 1) - titles.begin());
}

std::string_view colour(std::size_t title) {
  return kTitleColours[title % kTitleColours.size()];
}

void draw_source(Svg& svg, Point corner, double size, const std::string& source,
                 const std::vector<const ValidationRow*>& rows) {
  std::vector<double> times;
  for (const ValidationRow* row : rows) {
    times.push_back(*row->measured_step_time);
    times.push_back(*row->predicted_step_time);
  }
  const Panel panel = {log_scale(times, corner.x, corner.x + size),
                       log_scale(times, corner.y + size, corner.y)};
  draw_panel(svg, panel);
  draw_diagonal(svg, panel);
  std::vector<std::vector<Point>> dots(architecture_titles().size());
  for (const ValidationRow* row : rows) {
    dots[title_of(*row)].push_back(
        {panel.x.at(*row->measured_step_time), panel.y.at(*row->predicted_step_time)});
  }
  for (std::size_t i = 0; i < dots.size(); ++i) {
    svg.dots(dots[i], rows.size() > 400 ? 1.3 : 2.2, colour(i));
  }
  svg.text({corner.x, corner.y - 20}, printable(source, 24),
           "font-size=\"12\" font-weight=\"600\"");
  svg.text({corner.x, corner.y - 6},
           tick_label(static_cast<double>(rows.size())) + " runs, median error " +
               percent_label(summarise("", rows).step_time.median),
           "fill=\"#57606a\"");
}

}  // namespace

std::string plot_predicted(const ValidationReport& report) {
  std::vector<RowGroup> sources;
  for (auto& [source, rows] : rows_by(report.rows, ValidateBy::source)) {
    if (auto timed = with_error(rows); !timed.empty()) sources.emplace_back(source, timed);
  }
  constexpr std::size_t kColumns = 4;
  constexpr double kSize = 168, kWide = 236, kHigh = 236, kTop = 122, kLeft = 58;
  const std::size_t lines = std::max<std::size_t>(1, (sources.size() + kColumns - 1) / kColumns);
  const double height = kTop + static_cast<double>(lines) * kHigh - 12;
  Svg svg(968, height,
          "Predicted against measured step time of every run, one panel for each source");
  draw_heading(svg, "Step time: predicted against measured",
               "A dot is a run. On the line: predicted as measured; above it: predicted too slow. "
               "Band: 20 % to either side.");
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < architecture_titles().size(); ++i) {
    legend.push_back({architecture_titles()[i], colour(i)});
  }
  draw_legend(svg, {16, 68}, legend);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Point corner = {kLeft + static_cast<double>(i % kColumns) * kWide,
                          kTop + static_cast<double>(i / kColumns) * kHigh};
    draw_source(svg, corner, kSize, sources[i].first, sources[i].second);
  }
  svg.text({484, height - 14}, "measured step time, s", "text-anchor=\"middle\"");
  svg.text_upwards({16, height / 2}, "predicted step time, s");
  return svg.str();
}

}  // namespace headway
