// Time against memory: what no layout beats in both, and the best of each kind.
#include "report/plan.hpp"

#include <algorithm>
#include <cmath>

#include "base/draw/plot.hpp"
#include "base/text.hpp"

namespace headway {

std::string plan_svg(const Plan& plan) {
  constexpr double kGibi = 1024.0 * 1024 * 1024;
  constexpr double kWidth = 720, kHeight = 440;
  Svg svg(kWidth, kHeight, "Time of a step against memory of the best layouts");
  // Up to twice the fastest: slower layouts interest nobody, whatever memory they save.
  double slowest = 0;
  for (const PlannedLayout& at : plan.best) {
    slowest = std::max(slowest, at.forecast.step_time.value());
  }
  const double fastest = plan.front.front().point.time.value();
  slowest = 1.02 * std::max(slowest, 2 * fastest);
  const double capacity = plan.run.cluster.accelerator.memory.value() / kGibi;
  const Panel panel{.x = {.low = fastest - 0.05 * (slowest - fastest),
                          .high = slowest,
                          .from = 80,
                          .to = kWidth - 24},
                    .y = {.low = 0, .high = 1.05 * capacity, .from = kHeight - 56, .to = 76}};
  draw_panel(svg, panel);
  draw_axis_titles(svg, panel, "time of a step, s", "memory that must fit, GiB");
  draw_heading(svg,
               printable(plan.run.model.name) + " on " + std::to_string(plan.accelerators) +
                   " accelerators of " + printable(plan.run.cluster.name),
               "No layout takes both less time and less memory than one on the line; up to twice "
               "the fastest.");
  const auto styled = [](std::string_view colour, const char* more) {
    return "stroke=\"" + std::string(colour) + "\" " + more;
  };
  const double full = panel.y.at(capacity);
  svg.line({panel.x.from, full}, {panel.x.to, full}, styled(kGrey, "stroke-dasharray=\"4 3\""));
  svg.text({panel.x.from + 6, full - 5}, "what an accelerator has");
  std::optional<Point> last;
  for (const PlannedPoint& at : plan.front) {
    if (at.point.time.value() > slowest) break;
    const Point next{panel.x.at(at.point.time.value()),
                     panel.y.at(at.point.memory.value() / kGibi)};
    // Between two of them nothing needs less memory than the faster one.
    if (last) {
      svg.line(*last, {next.x, last->y}, styled(kBlue, "stroke-width=\"2\""));
      svg.line({next.x, last->y}, next, styled(kBlue, "stroke-width=\"2\""));
    }
    last = next;
  }
  std::vector<Point> drawn;
  for (std::size_t i = 0; i < plan.best.size(); ++i) {
    const Forecast& f = plan.best[i].forecast;
    const Point at{panel.x.at(f.step_time.value()),
                   panel.y.at((f.memory.total() - f.gaps).value() / kGibi)};
    svg.dots({&at, 1}, 4, kVermilion);
    // Numbers of neighbours stand beside each other.
    const auto near = [&](const Point& other) {
      return std::abs(other.x - at.x) < 12 && std::abs(other.y - at.y) < 11;
    };
    const auto before = std::count_if(drawn.begin(), drawn.end(), near);
    svg.text({at.x + 7 + 12 * static_cast<double>(before), at.y + 4}, std::to_string(i + 1));
    drawn.push_back(at);
  }
  const LegendEntry entries[] = {{"nothing beats it", kBlue}, {"best of each kind", kVermilion}};
  draw_legend(svg, {panel.x.from, 62}, entries);
  return svg.str();
}

}  // namespace headway
