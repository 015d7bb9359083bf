#include <algorithm>
#include <array>
#include <cmath>

#include "base/draw/plot.hpp"
#include "method/methods.hpp"
#include "report/laws/sites.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

constexpr std::array<std::string_view, 7> kColours = {kInk,  kSky,   kGrey,     kOrange,
                                                      kBlue, kGreen, kVermilion};
constexpr double kWidth = 760, kHeight = 460;

}  // namespace

std::vector<OutputFile> sites_plots(const SitesAnswer& answer, const std::string& folder) {
  std::int64_t most = 1;
  std::vector<double> bandwidths, days;
  for (const SiteTime& row : answer.rows) most = std::max(most, row.sites);
  for (const SiteTime& row : answer.rows) {
    if (row.sites != most || !std::isfinite(row.tokens)) continue;
    bandwidths.push_back(row.bandwidth.value() * 8 / 1e9);
    days.push_back(row.time.value() / kDay);
  }
  if (days.empty()) return {};
  Svg svg(kWidth, kHeight, "Days to the loss by the bandwidth between sites");
  draw_heading(svg, "Days to the same loss on " + std::to_string(most) + " sites",
               "training alone; dashed: no penalty of the loss is published, so at least this");
  Panel panel{log_scale(bandwidths, 80, 720), log_scale(days, 400, 110)};
  draw_panel(svg, panel);
  draw_axis_titles(svg, panel, "Gbit/s of a site", "days");
  std::vector<LegendEntry> entries;
  const std::vector<Method>& methods = answer.question.methods;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const std::string_view colour = kColours[i % kColours.size()];
    std::vector<Point> curve;
    bool known = true;
    for (const SiteTime& row : answer.rows) {
      if (row.sites != most || row.method != i) continue;
      if (!std::isfinite(row.tokens)) continue;
      known = row.penalty.has_value();
      curve.push_back({row.bandwidth.value() * 8 / 1e9, row.time.value() / kDay});
    }
    if (curve.empty()) continue;
    svg.dots(draw_curve(svg, panel, curve, colour, !known), 3, colour);
    entries.push_back({text_of(methods[i]), colour});
  }
  draw_legend(svg, {80, 92}, entries);
  return {{folder + "/convergence-days.svg", svg.str()}};
}

}  // namespace headway
