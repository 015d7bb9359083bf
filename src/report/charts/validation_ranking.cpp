// How well layouts of the same training are ranked: a dot for each contest.
#include <algorithm>
#include <map>

#include "base/draw/plot.hpp"
#include "base/text.hpp"
#include "fit/statistics.hpp"
#include "report/charts/validation.hpp"

namespace headway {
namespace {

// The median as a mark, the values as dots on one line, moved up and down in turn where they would
// lie on one another.
void draw_strip(Svg& svg, const Scale& x, double y, std::vector<double> values,
                std::string_view colour) {
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  const double median = x.at(*quantile(values, 0.5));
  svg.line({median, y - 14}, {median, y + 14}, "stroke=\"#24292f\" stroke-width=\"2\"");
  constexpr double kRadius = 2.8, kMost = 11;
  std::vector<Point> dots;
  double last = -1e9;
  int pile = 0;
  for (const double value : values) {
    const double at = x.at(value);
    pile = at - last < 2 * kRadius ? pile + 1 : 0;
    if (pile == 0) last = at;
    const double up = kRadius * ((pile + 1) / 2) * (pile % 2 ? -1 : 1);
    dots.push_back({at, y + std::clamp(up, -kMost, kMost)});
  }
  svg.dots(dots, kRadius, colour);
}

// Regret has many zeros and a long tail: it is drawn on a logarithmic scale of one point more.
double regret_place(double percent) {
  return 1 + percent;
}

}  // namespace

std::string plot_ranking(const ValidationReport& report) {
  struct Values {
    std::vector<double> correlations, regrets;
  };
  std::map<std::string, Values> sources;
  double worst = 0.1;
  for (const Contest& contest : contests_of(pointers_to(report.rows))) {
    Values& values = sources[contest.source_key];
    if (contest.spearman) values.correlations.push_back(*contest.spearman);
    if (!contest.regret) continue;
    values.regrets.push_back(*contest.regret);
    worst = std::max(worst, *contest.regret);
  }
  constexpr double kTop = 62, kHigh = 38, kLeft = 150, kMiddle = 500, kRight = 560, kEnd = 910;
  const double bottom =
      kTop + kHigh * static_cast<double>(std::max<std::size_t>(1, sources.size()));
  Svg svg(968, bottom + 48, "Rank correlation and regret of every contest, by source");
  draw_heading(svg, "Choosing a layout: rank correlation and regret",
               "A dot is a contest: at least five layouts of one training on one machine. "
               "Mark: median of the source.");
  const Scale correlation = {-1.05, 1.05, kLeft, kMiddle};
  const Scale regret = {0.8, regret_place(120 * worst), kRight, kEnd, true};
  const auto tick = [&](double x, double value) {
    svg.line({x, kTop}, {x, bottom}, "stroke=\"#e7eaed\"");
    svg.text({x, bottom + 14}, tick_label(value), "text-anchor=\"middle\" fill=\"#6e7781\"");
  };
  for (const double value : ticks(correlation)) tick(correlation.at(value), value);
  for (const double value : {0, 1, 3, 10, 30, 100, 300, 1000, 3000}) {
    if (value <= 120 * worst) tick(regret.at(regret_place(value)), value);
  }
  double y = kTop + kHigh / 2;
  for (const auto& [source, values] : sources) {
    std::vector<double> regrets;
    for (const double value : values.regrets) regrets.push_back(regret_place(100 * value));
    svg.text({kLeft - 8, y + 4},
             printable(source, 20) + " (" + std::to_string(regrets.size()) + ")",
             "text-anchor=\"end\"");
    draw_strip(svg, correlation, y, values.correlations, kBlue);
    draw_strip(svg, regret, y, regrets, kVermilion);
    y += kHigh;
  }
  for (const Scale* scale : {&correlation, &regret}) {
    svg.rect({scale->from, kTop}, scale->to - scale->from, bottom - kTop,
             "fill=\"none\" stroke=\"#c9d1d9\"");
  }
  svg.text({(kLeft + kMiddle) / 2, bottom + 34},
           "Spearman's rank correlation of predicted and measured time", "text-anchor=\"middle\"");
  svg.text({(kRight + kEnd) / 2, bottom + 34},
           "regret: how much slower the predicted best is, %; logarithmic",
           "text-anchor=\"middle\"");
  return svg.str();
}

}  // namespace headway
