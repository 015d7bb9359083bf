// headway limits --sensitivity --plot: what moves the limits.
#include <algorithm>
#include <cmath>

#include "base/draw/plot.hpp"
#include "base/text.hpp"
#include "report/limits.hpp"

namespace headway {

std::string sensitivity_svg(const limits::Setting& setting, const limits::Sensitivities& found) {
  constexpr double kRow = 26, kLeft = 210, kRight = 620, kTop = 90;
  std::vector<const limits::Sensitivity*> shown;
  double most = 1;
  for (const limits::Sensitivity& one : found.each) {
    const double reach = std::max(std::abs(one.linear_elasticity.value_or(0)),
                                  std::abs(one.wall_elasticity.value_or(0)));
    if (reach < 0.005) continue;
    shown.push_back(&one);
    most = std::max(most, reach);
  }
  const double bottom = kTop + kRow * static_cast<double>(shown.size());
  Svg svg(660, bottom + 56, "Elasticities of both limits of " + setting.name);
  draw_heading(svg, "What moves the limits: " + printable(setting.name, 60),
               "Percent by which a limit moves when a number grows by one percent; to the left it "
               "falls.");
  const LegendEntry legend[] = {{"end of linear scaling", kBlue}, {"wall", kVermilion}};
  draw_legend(svg, {kLeft, 68}, legend);
  const Scale x{-most * 1.05, most * 1.05, kLeft, kRight, false};
  for (const double tick : ticks(x)) {
    svg.line({x.at(tick), kTop - 6}, {x.at(tick), bottom}, "stroke=\"#e7eaed\"");
    svg.text({x.at(tick), bottom + 16}, tick_label(tick),
             "text-anchor=\"middle\" fill=\"#6e7781\"");
  }
  double y = kTop;
  for (const limits::Sensitivity* one : shown) {
    svg.text({kLeft - 8, y + 14}, limits::name_of(setting, one->knob), "text-anchor=\"end\"");
    const auto bar = [&](const std::optional<double>& value, double at, std::string_view colour) {
      const double from = x.at(std::min(0.0, value.value_or(0)));
      const double to = x.at(std::max(0.0, value.value_or(0)));
      svg.rect({from, at}, to - from, 8, "fill=\"" + std::string(colour) + "\"");
    };
    bar(one->linear_elasticity, y + 2, kBlue);
    bar(one->wall_elasticity, y + 11, kVermilion);
    y += kRow;
  }
  svg.line({x.at(0), kTop - 6}, {x.at(0), bottom}, "stroke=\"#24292f\"");
  svg.text({(kLeft + kRight) / 2, bottom + 38}, "elasticity", "text-anchor=\"middle\"");
  return svg.str();
}

}  // namespace headway
