#include <algorithm>
#include <array>

#include "base/draw/plot.hpp"
#include "report/jobs/jobs.hpp"

namespace headway {
namespace {

constexpr std::array<std::string_view, 8> kPolicyColours = {kBlue,   kVermilion, kGreen, kPurple,
                                                            kOrange, kSky,       kInk,   kGrey};
constexpr double kWidth = 760, kHeight = 460;

std::string blocking_svg(const JobsAnswer& answer) {
  std::vector<std::string> policies;
  std::vector<double> rates;
  double most = 0;
  for (const PolicyAtLoad& row : answer.rows) {
    if (std::find(policies.begin(), policies.end(), row.policy) == policies.end()) {
      policies.push_back(row.policy);
    }
    rates.push_back(3600 / row.interval.value());
    most = std::max(most, row.blocking());
  }
  Svg svg(kWidth, kHeight, "Share of blocked jobs against load on " + answer.title);
  draw_heading(svg, "Jobs that are blocked",
               answer.title + ": share of blocked jobs, mean over " + std::to_string(answer.seeds) +
                   " streams, against how many arrive");
  Panel panel{log_scale(rates, 80, 720),
              {.low = 0, .high = std::min(1.0, 1.1 * most + 0.02), .from = 400, .to = 110}};
  draw_panel(svg, panel);
  draw_axis_titles(svg, panel, "jobs an hour", "blocked");
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < policies.size() && i < kPolicyColours.size(); ++i) {
    std::vector<Point> curve;
    for (const PolicyAtLoad& row : answer.rows) {
      if (row.policy == policies[i]) curve.push_back({3600 / row.interval.value(), row.blocking()});
    }
    std::sort(curve.begin(), curve.end(), [](Point a, Point b) { return a.x < b.x; });
    svg.dots(draw_curve(svg, panel, curve, kPolicyColours[i]), 3, kPolicyColours[i]);
    entries.push_back({policies[i], kPolicyColours[i]});
  }
  draw_legend(svg, {80, 92}, entries);
  return svg.str();
}

}  // namespace

std::vector<OutputFile> jobs_plots(const JobsAnswer& answer, const std::string& folder) {
  return {{folder + "/jobs-blocking.svg", blocking_svg(answer)}};
}

}  // namespace headway
