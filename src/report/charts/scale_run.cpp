#include "report/scale_run.hpp"

#include <algorithm>
#include <cmath>

#include "base/draw/plot.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

constexpr double kRunWidth = 720, kRunHeight = 430;
constexpr double kRunLeft = 76, kRunRight = 700, kRunTop = 84, kRunBottom = 376;

std::string plot_goodput(const WholeRun& whole) {
  const RunCost& cost = whole.cost;
  const Reliability& r = cost.reliability;
  Svg svg(kRunWidth, kRunHeight, "Goodput of the run by the interval between checkpoints");
  draw_heading(svg, "Goodput by the interval between checkpoints",
               printable(whole.run.model.name, 40) + " on " +
                   short_count_text(static_cast<double>(cost.accelerators)) + " " +
                   printable(whole.run.cluster.accelerator.name, 30) +
                   ". Line: this interval. Dashed: Young's estimate of the best.");
  const double middle = cost.interval.value() / 60;
  std::vector<Point> plain, sooner, later;
  double least = 1;
  // The same with interruptions twice and half as frequent.
  for (int i = 0; i <= 120; ++i) {
    const double minutes = middle * std::pow(10.0, -1.5 + 3.0 * i / 120);
    const auto goodput = [&](double frequency) {
      Reliability other = r;
      other.mean_time_between = r.mean_time_between / frequency;
      if (is_hopeless(other, Seconds(60 * minutes))) return 0.0;
      const double waits = cost.time.waiting / cost.time.total();
      const double share =
          run_time(other, cost.time.training, Seconds(60 * minutes), waits).goodput;
      return 100 * share;
    };
    plain.push_back({minutes, goodput(1)});
    sooner.push_back({minutes, goodput(2)});
    later.push_back({minutes, goodput(0.5)});
    least = std::min(least, sooner.back().y / 100);
  }
  const double floor = std::max(0.0, std::floor(20 * least) * 5);
  const Panel panel = {{plain.front().x, plain.back().x, kRunLeft, kRunRight, true},
                       {std::min(floor, 95.0), 100, kRunBottom, kRunTop}};
  draw_panel(svg, panel);
  draw_axis_titles(svg, panel, "minutes of training between checkpoints; logarithmic",
                   "goodput, %");
  draw_curve(svg, panel, later, kGreen);
  draw_curve(svg, panel, sooner, kVermilion);
  draw_curve(svg, panel, plain, kBlue);
  const double here = panel.x.at(middle);
  svg.line({here, kRunTop}, {here, kRunBottom}, "stroke=\"#24292f\"");
  if (r.mean_time_between.value() > 0) {
    const double young = panel.x.at(young_interval(r).value() / 60);
    svg.line({young, kRunTop}, {young, kRunBottom}, "stroke=\"#24292f\" stroke-dasharray=\"3 4\"");
  }
  const std::string every = duration_text(r.mean_time_between);
  const LegendEntry entries[] = {{"interrupted half as often", kGreen},
                                 {"every " + every, kBlue},
                                 {"twice as often", kVermilion}};
  draw_legend(svg, {kRunLeft, 70}, entries);
  return svg.str();
}

std::string plot_days(const WholeRun& whole, const ScaledRuns& series) {
  const std::vector<ScaledRun>& scaled = series.runs;
  Svg svg(kRunWidth, kRunHeight, "Days of the run by accelerators");
  draw_heading(svg, "Days to the same loss by accelerators",
               printable(whole.run.model.name, 40) + ", " + short_count_text(whole.assumed.tokens) +
                   " tokens. Bars: 80 % of runs by the luck of failures. Dashed: perfect scaling.");
  std::vector<double> days, counts;
  for (const ScaledRun& each : scaled) {
    days.push_back(each.whole.cost.early.value() / kDay);
    days.push_back(each.whole.cost.late.value() / kDay);
    counts.push_back(static_cast<double>(each.whole.cost.accelerators));
  }
  if (scaled.empty()) {
    days = {whole.cost.time.total().value() / kDay};
    counts = {static_cast<double>(whole.cost.accelerators)};
  }
  const Panel panel = {log_scale(counts, kRunLeft, kRunRight),
                       log_scale(days, kRunBottom, kRunTop)};
  draw_panel(svg, panel);
  draw_axis_titles(svg, panel, "accelerators; logarithmic", "days; logarithmic");
  const double own = static_cast<double>(whole.cost.accelerators);
  const double total = whole.cost.time.total().value() / kDay;
  std::vector<Point> perfect;
  for (int i = 0; i <= 40; ++i) {
    const double count = panel.x.low * std::pow(panel.x.high / panel.x.low, i / 40.0);
    const double at = total * own / count;
    if (at >= panel.y.low && at <= panel.y.high) perfect.push_back({count, at});
  }
  draw_curve(svg, panel, perfect, kGrey, true);
  for (const bool grown : {false, true}) {
    const std::string_view colour = grown ? kVermilion : kBlue;
    std::vector<Point> line;
    for (const ScaledRun& each : scaled) {
      if (each.grown != grown) continue;
      const RunCost& cost = each.whole.cost;
      const double count = static_cast<double>(cost.accelerators);
      line.push_back({count, cost.time.total().value() / kDay});
      const double x = panel.x.at(count);
      svg.line({x, panel.y.at(cost.early.value() / kDay)},
               {x, panel.y.at(cost.late.value() / kDay)}, stroke(colour));
    }
    svg.dots(draw_curve(svg, panel, line, colour), 4, colour);
  }
  const LegendEntry entries[] = {
      {"same batch", kBlue},
      {"batch grown with accelerators, tokens for the same loss", kVermilion}};
  draw_legend(svg, {kRunLeft, 70}, entries);
  return svg.str();
}

}  // namespace

std::vector<OutputFile> scale_run_plots(const WholeRun& whole, const ScaledRuns& scaled,
                                        const std::string& folder) {
  return {{folder + "/goodput.svg", plot_goodput(whole)},
          {folder + "/days.svg", plot_days(whole, scaled)}};
}

}  // namespace headway
