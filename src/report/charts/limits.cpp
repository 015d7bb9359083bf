// headway limits --plot: utilisation and parallel degrees against training compute.
#include "report/limits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>

#include "base/draw/plot.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

constexpr std::array<std::string_view, 5> kCurveColours = {kBlue, kVermilion, kGreen, kPurple,
                                                           kInk};
constexpr std::array<std::string_view, 3> kDashes = {"", " stroke-dasharray=\"7 3\"",
                                                     " stroke-dasharray=\"2 3\""};
constexpr double kCurvesWidth = 860, kCurvesLeft = 72, kCurvesRight = 836, kCurvesTop = 66,
                 kBottomMargin = 48;
constexpr double kOverview = 280, kPanel = 132, kCurvesGap = 42;
constexpr std::size_t kMostPanels = 24;

std::string_view colour_of(std::size_t index) {
  return kCurveColours[index % kCurveColours.size()];
}
std::string line_style(std::size_t index) {
  return "stroke=\"" + std::string(colour_of(index)) + "\" stroke-width=\"1.6\"" +
         std::string(kDashes[index / kCurveColours.size() % kDashes.size()]);
}

void draw_curve(Svg& svg, const Panel& panel, const std::vector<limits::Run>& runs,
                const std::function<double(const limits::Run&)>& value, const std::string& style) {
  const auto at = [&](const limits::Run& run) {
    return Point{panel.x.at(run.shape.training.value()), panel.y.at(value(run))};
  };
  for (std::size_t i = 1; i < runs.size(); ++i) svg.line(at(runs[i - 1]), at(runs[i]), style);
}

struct Limit {
  double flop;
  std::string name;
  std::string_view colour;
};

// A line for each limit that lies in the panel, with names one below the other.
void draw_limits(Svg& svg, const Panel& panel, std::span<const Limit> limits) {
  const double top = panel.y.to;
  const auto is_inside = [&](const Limit& limit) {
    return limit.flop > panel.x.low && limit.flop < panel.x.high;
  };
  for (const Limit& limit : limits) {
    if (!is_inside(limit)) continue;
    const double x = panel.x.at(limit.flop);
    svg.line({x, panel.y.from}, {x, top},
             "stroke=\"" + std::string(limit.colour) + "\" stroke-dasharray=\"4 3\"");
  }
  double y = top;
  for (const Limit& limit : limits) {
    y += 12;
    if (!is_inside(limit)) continue;
    const double x = panel.x.at(limit.flop);
    const bool at_the_right = x > panel.x.to - 180;
    svg.text({at_the_right ? x - 4 : x + 4, y}, limit.name + " " + power_text(limit.flop),
             "stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\" fill=\"" +
                 std::string(limit.colour) + "\"" + (at_the_right ? " text-anchor=\"end\"" : ""));
  }
}

// Training compute of all curves and of the limits that are drawn.
Scale compute_scale(const LimitsReport& report) {
  std::vector<double> flops;
  for (const LimitsCurve& of : report.curves) {
    for (const limits::Run& run : of.curve.runs) flops.push_back(run.shape.training.value());
    if (!of.curve.runs.empty()) flops.push_back(of.published_alpha.latency.value() * 1.3);
  }
  std::erase_if(flops, [](double flop) { return !std::isfinite(flop); });
  return log_scale(flops, kCurvesLeft, kCurvesRight);
}

// The settings that have a panel of their own.
std::vector<const LimitsCurve*> shown(const LimitsReport& report) {
  std::vector<const LimitsCurve*> out;
  for (const LimitsCurve& of : report.curves) {
    if (!of.curve.runs.empty() && out.size() < kMostPanels) out.push_back(&of);
  }
  return out;
}

Panel panel_at(const Scale& x, double top, double height) {
  return {x, {0, 1, top + height, top}};
}

double sum_of_heights(std::size_t panels) {
  return (kPanel + kCurvesGap) * static_cast<double>(panels);
}

std::string utilization_plot(const LimitsReport& report) {
  const auto curves = shown(report);
  const double legend = 16 * static_cast<double>(curves.size());
  const double first = kCurvesTop + legend + 10;
  Svg svg(kCurvesWidth,
          first + kOverview + kCurvesGap + sum_of_heights(curves.size()) + kBottomMargin,
          "Utilisation against training compute, with the limits of each setting");
  draw_heading(svg, "How far training can scale: " + printable(report.title, 70),
               "Utilisation of the best layout on the smallest cluster that ends in time. Curves "
               "zig-zag, as clusters are powers of two.");
  const auto utilization = [](const limits::Run& run) { return run.utilization; };
  const Scale x = compute_scale(report);
  Panel panel = panel_at(x, first, kOverview);
  draw_panel(svg, panel);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const double y = kCurvesTop + 16 * static_cast<double>(i);
    svg.line({kCurvesLeft, y - 4}, {kCurvesLeft + 24, y - 4}, line_style(i));
    svg.text({kCurvesLeft + 32, y}, printable(curves[i]->setting.name, 90));
    draw_curve(svg, panel, curves[i]->curve.runs, utilization, line_style(i));
  }
  draw_axis_titles(svg, panel, "", "utilisation of the peak");

  double top = first + kOverview + kCurvesGap;
  for (std::size_t i = 0; i < curves.size(); ++i, top += kPanel + kCurvesGap) {
    const LimitsCurve& of = *curves[i];
    panel = panel_at(x, top, kPanel);
    draw_panel(svg, panel);
    svg.text({kCurvesLeft, top - 7}, printable(of.setting.name, 90), "font-weight=\"600\"");
    const double most = of.setting.machine.gpu.sustained;
    for (const double level : {most, most * of.setting.linear_share}) {
      svg.line({kCurvesLeft, panel.y.at(level)}, {kCurvesRight, panel.y.at(level)},
               "stroke=\"#c9d1d9\"");
    }
    draw_curve(svg, panel, of.curve.runs, utilization, line_style(i));
    const Limit limits[] = {
        {of.curve.first_below.value_or(Flops()).value(), "linear scaling ends", kInk},
        {of.published_alpha.linear_scaling.value(), "network", kGreen},
        {of.published_alpha.latency.value(), "latency wall", kVermilion}};
    draw_limits(svg, panel, limits);
  }
  svg.text({(kCurvesLeft + kCurvesRight) / 2, top - kCurvesGap + 32},
           "training compute, FLOP. Grey: the sustained peak and the share that counts as linear. "
           "Network, latency wall: the formulas at alpha 0",
           "text-anchor=\"middle\"");
  return svg.str();
}

std::string parallelism_plot(const LimitsReport& report) {
  struct Kind {
    const char* name;
    std::string_view colour;
    std::function<double(const limits::Run&)> degree;
  };
  const auto real = [](std::int64_t degree) { return static_cast<double>(degree); };
  const Kind kinds[] = {
      {"GPUs", kGrey, [&](const limits::Run& run) { return real(run.gpus); }},
      {"data", kBlue, [&](const limits::Run& run) { return real(run.layout.data.degree()); }},
      {"tensor", kVermilion,
       [&](const limits::Run& run) {
         return real(run.layout.tensor_model.degree() * run.layout.tensor_ff.degree());
       }},
      {"pipeline", kGreen,
       [&](const limits::Run& run) { return real(run.layout.pipeline.degree()); }},
      {"expert", kPurple, [&](const limits::Run& run) { return real(run.layout.expert.degree()); }},
      // Of submodels, which no layout holds: each group of GPUs has its own.
      {"submodels", kInk,
       [&](const limits::Run& run) { return real(run.gpus / run.layout.gpus()); }}};

  const auto is_used = [](const Kind& kind, const LimitsCurve& of) {
    return std::any_of(of.curve.runs.begin(), of.curve.runs.end(),
                       [&](const limits::Run& run) { return kind.degree(run) > 1; });
  };
  const auto curves = shown(report);
  constexpr double kHigh = kPanel + 40, kFirst = kCurvesTop + 34;
  Svg svg(kCurvesWidth,
          kFirst + (kHigh + kCurvesGap) * static_cast<double>(curves.size()) + kBottomMargin,
          "Parallel degrees of the best layouts against training compute");
  draw_heading(
      svg, "How the largest runs are split: " + printable(report.title, 70),
      "Degrees of the best layout on the smallest cluster that ends in time; data x tensor "
      "x pipeline x expert (x submodels) = GPUs.");
  std::vector<LegendEntry> legend;
  for (const Kind& kind : kinds) {
    const bool used = std::any_of(curves.begin(), curves.end(),
                                  [&](const LimitsCurve* of) { return is_used(kind, *of); });
    if (used) legend.push_back({kind.name, kind.colour});
  }
  draw_legend(svg, {kCurvesLeft, kCurvesTop}, legend);
  const Scale x = compute_scale(report);
  double top = kFirst;
  for (const LimitsCurve* of : curves) {
    std::vector<double> degrees = {1};
    for (const limits::Run& run : of->curve.runs) degrees.push_back(real(run.gpus));
    Panel panel = {x, log_scale(degrees, top + kHigh, top)};
    draw_panel(svg, panel);
    svg.text({kCurvesLeft, top - 7}, printable(of->setting.name, 90), "font-weight=\"600\"");
    for (const Kind& kind : kinds) {
      if (!is_used(kind, *of)) continue;
      draw_curve(svg, panel, of->curve.runs, kind.degree,
                 "stroke=\"" + std::string(kind.colour) + "\" stroke-width=\"1.6\"");
    }
    top += kHigh + kCurvesGap;
  }
  svg.text({(kCurvesLeft + kCurvesRight) / 2, top - kCurvesGap + 32}, "training compute, FLOP",
           "text-anchor=\"middle\"");
  return svg.str();
}

}  // namespace

std::vector<OutputFile> limits_plots(const LimitsReport& report, const std::string& stem) {
  return {{stem + "utilization.svg", utilization_plot(report)},
          {stem + "parallelism.svg", parallelism_plot(report)}};
}

}  // namespace headway
