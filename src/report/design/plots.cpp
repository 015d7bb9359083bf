#include <algorithm>
#include <array>

#include "base/draw/plot.hpp"
#include "base/text.hpp"
#include "report/design/design.hpp"

namespace headway {
namespace {

// In the order of Bound.
constexpr std::array<std::string_view, kBoundNames.size()> kBoundColours = {kVermilion, kBlue,
                                                                            kGreen, kOrange};
constexpr std::size_t kMostCurves = 8;
constexpr double kWidth = 760, kHeight = 460, kLeft = 80, kRight = 560, kTop = 96, kBottom = 400;

void draw_bounds(Svg& svg, Point at) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < kBoundNames.size(); ++i) {
    entries.push_back({"bound by " + std::string(kBoundNames[i]), kBoundColours[i]});
  }
  draw_legend(svg, at, entries);
}

void draw_point(Svg& svg, Point at, const DesignTime& time, double radius) {
  const Point centre[] = {at};
  svg.dots(centre, radius, kBoundColours[static_cast<std::size_t>(time.bounds.most())]);
}

// Unit that the ticks of an axis count in, and its word.
struct TickUnit {
  double of = 1;
  std::string word;
};
TickUnit unit_of(const AxisRow& row) {
  const std::string_view name = row.name;
  if (name.ends_with("bandwidth")) return {1e9, "GB/s"};
  if (name == "capacity") return {1024.0 * 1024 * 1024, "GiB"};
  if (name == "peak") return {1e12, "TFLOP/s in 16 bit"};
  if (name.ends_with("latency")) return {1e-6, "us"};
  if (name == "power") return {1, "W"};
  if (name.ends_with("energy")) return {1e-12, "pJ a bit"};
  if (name == "area") return {1, "mm2"};
  return {1, ""};
}

// The first time along an axis, a curve for each choice of the others.
std::string curves_svg(const DesignAnswer& design, std::size_t axis) {
  const AxisRow& row = *design.axes[axis].row;
  const TickUnit unit = unit_of(row);
  std::vector<std::pair<std::string, std::vector<const DesignPoint*>>> curves;
  std::vector<double> xs, ys;
  double longest = 0;
  for (const DesignPoint& point : design.points) {
    if (point.stands()) longest = std::max(longest, point.times.front().time.value());
  }
  const double second = longest < 1 ? 1e3 : 1;  // in what times are told
  for (const DesignPoint& point : design.points) {
    if (!point.stands()) continue;
    const std::string of = words_of(design, point.at, axis);
    auto curve = std::find_if(curves.begin(), curves.end(),
                              [&](const auto& known) { return known.first == of; });
    if (curve == curves.end()) {
      if (curves.size() == kMostCurves) continue;
      curve = curves.insert(curves.end(), {of, {}});
    }
    curve->second.push_back(&point);
    xs.push_back(design.axes[axis].values[point.at[axis]].number / unit.of);
    ys.push_back(point.times.front().time.value() * second);
  }
  const std::string& what = design.workload.times.front();
  Svg svg(kWidth, kHeight, "Time of " + what + " along " + std::string(row.name));
  draw_heading(
      svg, printable(design.workload.title, 60) + ": time along " + std::string(row.name),
      "Each curve is a choice of the rest; a dot's colour is what binds most of the time.");
  draw_bounds(svg, {kLeft, 72});
  const Panel panel{log_scale(xs, kLeft, kRight), log_scale(ys, kBottom, kTop)};
  draw_panel(svg, panel);
  draw_axis_titles(svg, panel, std::string(row.name) + (unit.word.empty() ? "" : ", ") + unit.word,
                   what + (second > 1 ? ", ms" : ", s"));
  double label = kTop;
  for (const auto& [of, points] : curves) {
    std::vector<Point> values;
    for (const DesignPoint* point : points) {
      values.push_back({design.axes[axis].values[point->at[axis]].number / unit.of,
                        point->times.front().time.value() * second});
    }
    const std::vector<Point> places = draw_curve(svg, panel, values, kGrey);
    for (std::size_t i = 0; i < points.size(); ++i) {
      draw_point(svg, places[i], points[i]->times.front(), 4);
    }
    if (!places.empty() && !of.empty()) {
      label = std::max(label + 14, places.back().y + 4);
      svg.text({kRight + 8, label}, printable(of, 40), fill(kGrey));
    }
  }
  return svg.str();
}

// "hbm4, n2, 700 W".
std::string values_of(const DesignAnswer& design, const DesignPoint& point) {
  std::string out;
  for (std::size_t axis = 0; axis < design.axes.size(); ++axis) {
    out += (axis > 0 ? ", " : "") + design.axes[axis].values[point.at[axis]].text;
  }
  return out;
}

std::string front_svg(const DesignAnswer& design) {
  std::vector<double> xs, ys;
  std::vector<const DesignPoint*> front;
  for (const DesignPoint& point : design.points) {
    if (!point.stands()) continue;
    xs.push_back(point.power().value());
    ys.push_back(point.tokens_per_second);
    if (point.on_front) front.push_back(&point);
  }
  std::sort(front.begin(), front.end(),
            [](const DesignPoint* a, const DesignPoint* b) { return a->power() < b->power(); });
  Svg svg(kWidth, kHeight, "Speed against power of " + printable(design.workload.title, 60));
  draw_heading(
      svg, printable(design.workload.title, 60) + ": speed against power",
      "Large dots are the front: no other is as fast and draws as little, on as little area.");
  draw_bounds(svg, {kLeft, 72});
  const Panel panel{log_scale(xs, kLeft, kRight), log_scale(ys, kBottom, kTop)};
  draw_panel(svg, panel);
  draw_axis_titles(svg, panel, "power of an accelerator, W", "tokens/s");
  for (const DesignPoint& point : design.points) {
    if (!point.stands()) continue;
    const Point at{panel.x.at(point.power().value()), panel.y.at(point.tokens_per_second)};
    draw_point(svg, at, point.times.front(), point.on_front ? 6 : 3);
  }
  double label = kTop;
  for (auto point = front.rbegin(); point != front.rend(); ++point, label += 16) {
    if (label > kBottom) break;
    svg.text({kRight + 8, label + 4}, printable(values_of(design, **point), 40), fill(kGrey));
  }
  return svg.str();
}

}  // namespace

std::vector<OutputFile> design_plots(const DesignAnswer& design, const std::string& folder) {
  std::vector<OutputFile> out;
  const bool any = std::any_of(design.points.begin(), design.points.end(),
                               [](const DesignPoint& point) { return point.stands(); });
  if (!any) return out;
  for (std::size_t axis = 0; axis < design.axes.size(); ++axis) {
    if (!design.axes[axis].row->is_number() || design.axes[axis].values.size() < 2) continue;
    out.push_back({folder + "/curve.svg", curves_svg(design, axis)});
    break;
  }
  out.push_back({folder + "/front.svg", front_svg(design)});
  return out;
}

}  // namespace headway
