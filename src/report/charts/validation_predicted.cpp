// Predicted against measured step time, a panel for each source.
#include <array>

#include "base/draw/plot.hpp"
#include "base/text.hpp"
#include "report/charts/validation.hpp"

namespace headway {
namespace {

constexpr std::array<std::string_view, 4> kGenerations = {"Ampere", "Hopper", "Blackwell",
                                                          "others: TPU, AMD, Volta"};
constexpr std::array<std::string_view, 4> kColours = {kVermilion, kBlue, kGreen, kPurple};

std::size_t generation_of(const std::string& accelerator) {
  const std::string name = lower(accelerator);
  const auto any = [&](std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts) {
      if (name.find(part) != name.npos) return true;
    }
    return false;
  };
  if (any({"b200", "b300"})) return 2;
  if (any({"h100", "h200", "h800", "gh200"})) return 1;
  return any({"a100", "a800", "a40"}) ? 0 : 3;
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
  std::array<std::vector<Point>, kGenerations.size()> dots;
  for (const ValidationRow* row : rows) {
    dots[generation_of(row->accelerator)].push_back(
        {panel.x.at(*row->measured_step_time), panel.y.at(*row->predicted_step_time)});
  }
  for (std::size_t i = 0; i < dots.size(); ++i) {
    svg.dots(dots[i], rows.size() > 400 ? 1.3 : 2.2, kColours[i]);
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
  for (std::size_t i = 0; i < kGenerations.size(); ++i) {
    legend.push_back({std::string(kGenerations[i]), kColours[i]});
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
