// headway limits --real --plot: both answers against training compute.
#include <vector>

#include "base/draw/plot.hpp"
#include "base/text.hpp"
#include "report/limits.hpp"

namespace headway {
namespace {

using Curve = std::vector<Point>;  // in the units of the axes

void draw(Svg& svg, const Panel& panel, const Curve& curve, std::string_view colour, bool marked) {
  const auto at = [&](const Point& point) {
    return Point{panel.x.at(point.x), panel.y.at(point.y)};
  };
  const std::string style = "stroke=\"" + std::string(colour) + "\" stroke-width=\"1.8\"";
  for (std::size_t i = 1; i < curve.size(); ++i) svg.line(at(curve[i - 1]), at(curve[i]), style);
  if (!marked) return;
  std::vector<Point> centres;
  for (const Point& point : curve) centres.push_back(at(point));
  svg.dots(centres, 3, colour);
}

}  // namespace

std::string real_svg(const RealCurve& of) {
  constexpr double kWidth = 760, kLeft = 78, kRight = 736, kTop = 96, kHigh = 230, kGap = 44;
  Curve utilization, mfu, gpus, accelerators;
  for (const limits::Run& run : of.ideal.curve.runs) {
    const double flop = run.shape.training.value();
    utilization.push_back({flop, run.utilization});
    gpus.push_back({flop, static_cast<double>(run.gpus)});
  }
  for (const RealModel& model : of.models) {
    if (!model.transformer) continue;
    const double flop = model.transformer->training.value();
    mfu.push_back({flop, model.transformer->forecast.mfu});
    accelerators.push_back({flop, static_cast<double>(model.transformer->accelerators)});
  }
  std::vector<double> flops, counts;
  for (const Curve* curve : {&gpus, &accelerators}) {
    for (const Point& point : *curve) {
      flops.push_back(point.x);
      counts.push_back(point.y);
    }
  }
  if (flops.empty()) flops = counts = {1};

  Svg svg(kWidth, kTop + 2 * kHigh + kGap + 56, "Idealised model and transformers");
  draw_heading(svg, "How far training can scale: " + printable(of.ideal.setting.name, 50),
               "Each on the smallest cluster that ends in time: the idealised stack, and "
               "transformers on " +
                   printable(of.cluster, 30) + " by the prediction of their steps.");
  const LegendEntry legend[] = {{"idealised stack", kBlue}, {"transformer", kVermilion}};
  draw_legend(svg, {kLeft, 72}, legend);

  const Scale x = log_scale(flops, kLeft, kRight);
  Panel panel{x, {0, 1, kTop + kHigh, kTop}};
  draw_panel(svg, panel);
  draw(svg, panel, utilization, kBlue, false);
  draw(svg, panel, mfu, kVermilion, true);
  draw_axis_titles(svg, panel, "", "utilisation, MFU");

  const double top = kTop + kHigh + kGap;
  panel = {x, log_scale(counts, top + kHigh, top)};
  draw_panel(svg, panel);
  draw(svg, panel, gpus, kBlue, false);
  draw(svg, panel, accelerators, kVermilion, true);
  draw_axis_titles(svg, panel, "training compute of each, FLOP", "accelerators");
  return svg.str();
}

}  // namespace headway
