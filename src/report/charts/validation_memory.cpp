// Predicted against reported memory, and the verdict on what fits.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/draw/plot.hpp"
#include "base/text.hpp"
#include "report/charts/validation.hpp"

namespace headway {
namespace {

constexpr std::array<std::string_view, 4> kSourceColours = {kBlue, kVermilion, kGreen, kPurple};

// The sources with the most rows of reported memory, then the others as one.
std::vector<RowGroup> largest_sources(const ValidationReport& report) {
  std::vector<RowGroup> sources;
  for (auto& [source, rows] : rows_by(report.rows, ValidateBy::source)) {
    if (auto known = with_memory_error(rows); !known.empty()) sources.emplace_back(source, known);
  }
  std::stable_sort(sources.begin(), sources.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  if (sources.size() <= kSourceColours.size()) return sources;
  RowGroup others = {"others", {}};
  for (std::size_t i = kSourceColours.size() - 1; i < sources.size(); ++i) {
    others.second.insert(others.second.end(), sources[i].second.begin(), sources[i].second.end());
  }
  sources.resize(kSourceColours.size() - 1);
  sources.push_back(std::move(others));
  return sources;
}

void draw_amounts(Svg& svg, const ValidationReport& report, double left, double right, double top,
                  double bottom) {
  const std::vector<RowGroup> sources = largest_sources(report);
  std::vector<double> values;
  for (const auto& [source, rows] : sources) {
    for (const ValidationRow* row : rows) {
      values.push_back(*row->measured_memory);
      values.push_back(*row->predicted_memory);
    }
  }
  const Panel panel = {log_scale(values, left, right), log_scale(values, bottom, top)};
  draw_panel(svg, panel);
  draw_diagonal(svg, panel);
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::vector<Point> dots;
    for (const ValidationRow* row : sources[i].second) {
      dots.push_back({panel.x.at(*row->measured_memory), panel.y.at(*row->predicted_memory)});
    }
    svg.dots(dots, sources[i].second.size() > 400 ? 1.3 : 2.5, kSourceColours[i]);
    legend.push_back({printable(sources[i].first, 20), kSourceColours[i]});
  }
  draw_legend(svg, {left, top - 12}, legend);
  draw_axis_titles(svg, panel, "reported peak, GiB an accelerator",
                   "predicted, GiB an accelerator");
}

// Runs by the share of the memory there is that they are predicted to take: up those that ran, down
// those out of memory.
void draw_verdicts(Svg& svg, const ValidationReport& report, double left, double right, double top,
                   double bottom) {
  constexpr double kLeast = 1.0 / 64, kMost = 16;
  constexpr std::size_t kBins = 40;  // four for each doubling; 1 lies between two
  std::array<double, kBins> ran{}, burst{};
  for (const ValidationRow& row : report.rows) {
    if (!row.predicted_load) continue;
    const double place = std::log2(std::max(*row.predicted_load, 1e-9) / kLeast) * 4;
    const auto bin = static_cast<std::size_t>(std::clamp(std::ceil(place) - 1, 0.0, kBins - 1.0));
    ++(row.outcome == "ok" ? ran : burst)[bin];
  }
  const Scale x = {kLeast, kMost, left, right, true};
  constexpr double kAir = 1.1;
  const double most_ran = std::max(10.0, *std::max_element(ran.begin(), ran.end()));
  const double most_burst = std::max(10.0, *std::max_element(burst.begin(), burst.end()));
  const Scale y = {-most_burst * kAir, most_ran * kAir, bottom, top};
  for (double value = kLeast; value <= kMost; value *= 4) {
    svg.line({x.at(value), bottom}, {x.at(value), top}, "stroke=\"#e7eaed\"");
    const std::string label = value < 1 ? "1/" + tick_label(1 / value) : tick_label(value);
    svg.text({x.at(value), bottom + 14}, label, "text-anchor=\"middle\" fill=\"#6e7781\"");
  }
  for (const double value : ticks(y)) {
    svg.line({left, y.at(value)}, {right, y.at(value)}, "stroke=\"#e7eaed\"");
    svg.text({left - 5, y.at(value) + 4}, tick_label(std::abs(value)),
             "text-anchor=\"end\" fill=\"#6e7781\"");
  }
  const double wide = (right - left) / kBins;
  for (std::size_t i = 0; i < kBins; ++i) {
    const double at = left + wide * static_cast<double>(i);
    const auto bar = [&](double count, double sign, std::string_view colour) {
      if (count == 0) return;
      const double high = std::abs(y.at(count) - y.at(0));
      svg.rect({at + 0.5, sign > 0 ? y.at(0) - high : y.at(0)}, wide - 1, high,
               "fill=\"" + std::string(colour) + "\"");
    };
    bar(ran[i], 1, kBlue);
    bar(burst[i], -1, kVermilion);
  }
  svg.line({left, y.at(0)}, {right, y.at(0)}, "stroke=\"#24292f\"");
  svg.line({x.at(1), bottom}, {x.at(1), top}, "stroke=\"#24292f\" stroke-dasharray=\"4 3\"");
  svg.rect({left, top}, right - left, bottom - top, "fill=\"none\" stroke=\"#c9d1d9\"");
  svg.text({right - 8, top + 18}, "ran",
           "text-anchor=\"end\" fill=\"#0072b2\" font-weight=\"600\"");
  svg.text({left + 8, bottom - 8}, "out of memory", "fill=\"#d55e00\" font-weight=\"600\"");
  svg.text({x.at(1) - 6, top - 12}, "predicted to fit", "text-anchor=\"end\" fill=\"#57606a\"");
  svg.text({x.at(1) + 6, top - 12}, "not to fit", "fill=\"#57606a\"");
  draw_axis_titles(svg, {x, y}, "predicted memory / capacity; the outermost bars hold all beyond",
                   "runs");
}

}  // namespace

std::string plot_memory(const ValidationReport& report) {
  Svg svg(968, 520,
          "Predicted against reported memory; predicted load of runs that ran and of those"
          " out of memory");
  draw_heading(
      svg, "Memory: predicted against reported, and the verdict",
      "Left: a dot is a run that reports its peak; band: 20 % to either side. "
      "Right: what is below the line on the left, or above it on the right, was judged wrong.");
  draw_amounts(svg, report, 64, 452, 92, 470);
  draw_verdicts(svg, report, 560, 944, 92, 470);
  return svg.str();
}

}  // namespace headway
