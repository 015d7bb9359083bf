#include "report/scale_sweep.hpp"

#include <algorithm>
#include <cmath>

#include "base/draw/plot.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/words.hpp"

namespace headway {
namespace {

constexpr double kTop = 96, kBottom = 356, kHeight = 416;
constexpr double kDot = 3.5, kLeft = 70, kPanelWidth = 330, kGap = 76;
constexpr std::string_view kColours[] = {kBlue, kVermilion, kGreen,  kPurple,
                                         kInk,  kGrey,      kOrange, kSky};

// Titles over both panels.
void draw_title(Svg& svg, const SweepAnswer& answer, std::string_view what, std::string_view how) {
  const Run& base = answer.question.base;
  const std::string model = printable(base.model.name, 40), on = printable(base.cluster.name, 40);
  const std::string run = answer.question.axis == SweepAxis::model      ? "on " + on
                          : answer.question.axis == SweepAxis::hardware ? model
                                                                        : model + " on " + on;
  draw_heading(svg, std::string(what) + ": " + run, how);
}

// The points of all series along x: their values, or places in a row of names.
struct Abscissa {
  Scale scale;
  std::vector<Tick> ticks;
};

Abscissa abscissa(const SweepAnswer& answer, const std::vector<const SweepSeries*>& series,
                  double from, double to) {
  std::vector<double> values;
  std::vector<Tick> ticks;
  for (const SweepSeries* each : series) {
    for (const SweepPoint& point : each->points) {
      values.push_back(point.value);
      const bool seen = std::any_of(ticks.begin(), ticks.end(),
                                    [&](const Tick& tick) { return tick.value == point.value; });
      // Of tensor with pipeline degrees the product stands.
      const std::string label =
          each->name == kGridName ? short_count_text(point.value) : printable(point.label, 20);
      if (!seen) ticks.push_back({point.value, label});
    }
  }
  if (is_over_names(answer.question.axis)) {
    const double last = *std::max_element(values.begin(), values.end());
    return {{-0.5, last + 0.5, from, to}, std::move(ticks)};
  }
  std::sort(ticks.begin(), ticks.end(),
            [](const Tick& a, const Tick& b) { return a.value < b.value; });
  return {log_scale(values, from, to), std::move(ticks)};
}

// Names that would run into one another stand in two rows.
void draw_labelled_panel(Svg& svg, const Panel& panel, const std::vector<Tick>& ticks) {
  std::size_t longest = 0;
  for (const Tick& tick : ticks) longest = std::max(longest, tick.label.size());
  const double width = std::abs(panel.x.to - panel.x.from) /
                       static_cast<double>(std::max<std::size_t>(1, ticks.size()));
  constexpr double kLetter = 6.2;
  if (static_cast<double>(longest) * kLetter < width) return draw_panel(svg, panel, ticks);
  std::vector<Tick> bare = ticks;
  for (Tick& tick : bare) tick.label.clear();
  draw_panel(svg, panel, bare);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    svg.text({panel.x.at(ticks[i].value), panel.y.from + (i % 2 == 0 ? 13 : 25)}, ticks[i].label,
             "text-anchor=\"middle\" font-size=\"9\" fill=\"#6e7781\"");
  }
}

std::vector<const SweepSeries*> drawn(const SweepAnswer& answer) {
  std::vector<const SweepSeries*> out;
  for (const SweepSeries& series : answer.series) {
    if (!series.points.empty() && out.size() < std::size(kColours)) out.push_back(&series);
  }
  return out;
}

// Series along the same x share a panel; those of a network do not: factors and sizes.
std::vector<std::vector<const SweepSeries*>> by_abscissa(const SweepAnswer& answer) {
  std::vector<std::vector<const SweepSeries*>> out;
  for (const SweepSeries* series : drawn(answer)) {
    const bool apart = !out.empty() && (series->name == "domain" || series->name == kHybridName);
    if (out.empty() || apart) out.emplace_back();
    out.back().push_back(series);
  }
  return out;
}

std::string abscissa_title(const SweepAnswer& answer, const SweepSeries& series) {
  if (series.name == kHybridName) return "ranks that share one copy of the states";
  if (series.name == "domain") return "accelerators joined by the innermost links";
  switch (answer.question.axis) {
    case SweepAxis::weak:
    case SweepAxis::strong:
      return "accelerators";
    case SweepAxis::context:
      return "tokens in a sequence";
    case SweepAxis::network:
      return "times the rate or latency as it is";
    case SweepAxis::layout:
      return "degree";
    case SweepAxis::model:
    case SweepAxis::hardware:
      return "";
  }
  return {};
}

double top_of(double most) {
  return most > 0 ? most * 1.1 : 1;
}

std::vector<Point> places(const Panel& panel, const std::vector<Point>& values) {
  std::vector<Point> out;
  for (const Point& value : values) out.push_back({panel.x.at(value.x), panel.y.at(value.y)});
  return out;
}

using Value = double (*)(const SweepPoint&);

double mfu_percent(const SweepPoint& point) {
  return 100 * point.forecast.mfu;
}

// One value of every point; series in their colours.
void draw_values(Svg& svg, const SweepAnswer& answer, const std::vector<const SweepSeries*>& series,
                 double left, Value value, std::string_view title) {
  const Abscissa x = abscissa(answer, series, left, left + kPanelWidth);
  double most = 0;
  for (const SweepSeries* each : series) {
    for (const SweepPoint& point : each->points) most = std::max(most, value(point));
  }
  const Panel panel = {x.scale, {0, top_of(most), kBottom, kTop}};
  draw_labelled_panel(svg, panel, x.ticks);
  draw_axis_titles(svg, panel, abscissa_title(answer, *series.front()), title);
  const auto all = drawn(answer);
  for (const SweepSeries* each : series) {
    std::vector<Point> values;
    for (const SweepPoint& point : each->points) values.push_back({point.value, value(point)});
    const auto at = static_cast<std::size_t>(std::find(all.begin(), all.end(), each) - all.begin());
    // Of degrees with the same product several points stand over one another.
    const bool joined = each->name != kGridName;
    svg.dots(joined ? draw_curve(svg, panel, values, kColours[at]) : places(panel, values), kDot,
             kColours[at]);
  }
}

// Tokens/s of all accelerators, and what perfect scaling of the first point would be.
void draw_global(Svg& svg, const SweepAnswer& answer, const SweepSeries& series, double left) {
  const Abscissa x = abscissa(answer, {&series}, left, left + kPanelWidth);
  const SweepPoint& first = series.points.front();
  const SweepPoint& last = series.points.back();
  const double each = first.forecast.tokens_per_second / first.value;
  constexpr double kMillion = 1e6;
  std::vector<double> rates = {each * first.value / kMillion, each * last.value / kMillion};
  std::vector<Point> values;
  for (const SweepPoint& point : series.points) {
    rates.push_back(point.forecast.tokens_per_second / kMillion);
    values.push_back({point.value, rates.back()});
  }
  const Panel panel = {x.scale, log_scale(rates, kBottom, kTop)};
  draw_labelled_panel(svg, panel, x.ticks);
  draw_axis_titles(svg, panel, "accelerators", "million tokens/s; logarithmic");
  draw_curve(svg, panel, {{first.value, rates[0]}, {last.value, rates[1]}}, kGrey, true);
  svg.dots(draw_curve(svg, panel, values, kBlue), kDot, kBlue);
  if (series.diminished) {
    const double at = panel.x.at(series.points[*series.diminished].value);
    svg.line({at, kTop}, {at, kBottom}, stroke(kInk, true));
  }
}

// Throughput, power and energy of each accelerator, as shares of the first point's.
void draw_relative(Svg& svg, const SweepAnswer& answer, const SweepSeries& series, double left) {
  const Abscissa x = abscissa(answer, {&series}, left, left + kPanelWidth);
  const SweepPoint& first = series.points.front();
  const struct {
    const char* name;
    std::string_view colour;
    Value value;
  } kinds[] = {{"tokens/s each", kBlue,
                [](const SweepPoint& p) { return p.forecast.tokens_per_second_per_accelerator; }},
               {"power each", kVermilion,
                [](const SweepPoint& p) { return p.cost.accelerator_power.value(); }},
               {"tokens/J", kGreen, [](const SweepPoint& p) { return p.tokens_per_joule; }}};
  double most = 100;
  for (const auto& kind : kinds) {
    for (const SweepPoint& point : series.points) {
      most = std::max(most, 100 * kind.value(point) / kind.value(first));
    }
  }
  const Panel panel = {x.scale, {0, top_of(most), kBottom, kTop}};
  draw_labelled_panel(svg, panel, x.ticks);
  draw_axis_titles(svg, panel, "accelerators", "% of the first point");
  std::vector<LegendEntry> legend;
  for (const auto& kind : kinds) {
    std::vector<Point> values;
    for (const SweepPoint& point : series.points) {
      values.push_back({point.value, 100 * kind.value(point) / kind.value(first)});
    }
    svg.dots(draw_curve(svg, panel, values, kind.colour), kDot, kind.colour);
    legend.push_back({kind.name, kind.colour});
  }
  draw_legend(svg, {left, kTop - 14}, legend);
}

void draw_series_legend(Svg& svg, const SweepAnswer& answer) {
  const auto all = drawn(answer);
  if (all.size() < 2) return;
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < all.size(); ++i) {
    legend.push_back({printable(all[i]->name, 40), kColours[i]});
  }
  draw_legend(svg, {kLeft, kTop - 14}, legend);
}

struct Share {
  const char* name;
  std::string_view colour;
  Seconds (*of)(const SweepPoint&);
};
constexpr Share kShares[] = {
    {"compute", kBlue, [](const SweepPoint& p) { return p.forecast.parts.compute; }},
    {"exposed calls", kVermilion, [](const SweepPoint& p) { return p.exposed; }},
    {"bubble", kGreen, [](const SweepPoint& p) { return p.forecast.parts.bubble; }},
    {"optimizer and other", kGrey,
     [](const SweepPoint& p) { return p.forecast.parts.optimizer + p.forecast.parts.other; }},
};

std::string plot_sweep_throughput(const SweepAnswer& answer) {
  constexpr double kRightPanel = kLeft + kPanelWidth + kGap;
  Svg svg(kRightPanel + kPanelWidth + 16, kHeight, "Throughput along the axis of the sweep");
  if (is_over_accelerators(answer.question.axis)) {
    draw_title(svg, answer,
               answer.question.axis == SweepAxis::weak ? "Weak scaling" : "Strong scaling",
               "Dashed: the first point scaled perfectly; upright: where returns have diminished.");
    const SweepSeries& series = *drawn(answer).front();
    draw_global(svg, answer, series, kLeft);
    draw_relative(svg, answer, series, kRightPanel);
    return svg.str();
  }
  draw_title(svg, answer, "Throughput by " + axis_title(answer.question.axis),
             "Points that do not fit or are not legal are left out.");
  draw_series_legend(svg, answer);
  const auto groups = by_abscissa(answer);
  constexpr Value kRate = [](const SweepPoint& p) {
    return p.forecast.tokens_per_second_per_accelerator / 1000;
  };
  draw_values(svg, answer, groups.front(), kLeft, kRate, "thousand tokens/s of an accelerator");
  if (groups.size() > 1) {
    draw_values(svg, answer, groups[1], kRightPanel, kRate, "thousand tokens/s of an accelerator");
  } else {
    draw_values(svg, answer, groups.front(), kRightPanel, mfu_percent, "MFU, %");
  }
  return svg.str();
}

std::string plot_sweep_parts(const SweepAnswer& answer) {
  const auto all = drawn(answer);
  constexpr double kRow = 19, kBarLeft = 190, kBarRight = 700, kFirst = 92;
  std::size_t rows = 0;
  for (const SweepSeries* series : all) rows += series->points.size() + (all.size() > 1 ? 1 : 0);
  const double bottom = kFirst + kRow * static_cast<double>(rows) + 6;
  Svg svg(kBarRight + 20, bottom + 46, "Where the time of a step goes at each point");
  draw_title(svg, answer, "Where a step's time goes",
             "Exposed calls: communication that no computation hides.");
  std::vector<LegendEntry> legend;
  for (const Share& kind : kShares) {
    const bool seen = std::any_of(all.begin(), all.end(), [&](const SweepSeries* series) {
      return std::any_of(series->points.begin(), series->points.end(),
                         [&](const SweepPoint& point) { return kind.of(point) > Seconds(0); });
    });
    if (seen) legend.push_back({kind.name, kind.colour});
  }
  draw_legend(svg, {kBarLeft, 74}, legend);
  const Panel panel = {{0, 100, kBarLeft, kBarRight}, {0, 1, bottom, kFirst - 6}, true};
  draw_panel(svg, panel);
  double y = kFirst;
  for (const SweepSeries* series : all) {
    if (all.size() > 1) {
      svg.text({kBarLeft - 8, y + 12}, printable(series->name, 30),
               "text-anchor=\"end\" font-weight=\"600\"");
      y += kRow;
    }
    for (const SweepPoint& point : series->points) {
      double before = 0;
      for (const Share& kind : kShares) {
        const double share = 100 * (kind.of(point) / point.forecast.step_time);
        const double from = panel.x.at(before), to = panel.x.at(before + share);
        svg.rect({from, y}, to - from, kRow - 5, fill(kind.colour));
        before += share;
      }
      svg.text({kBarLeft - 8, y + 11}, printable(point.label, 24), "text-anchor=\"end\"");
      y += kRow;
    }
  }
  svg.text({(kBarLeft + kBarRight) / 2, bottom + 32}, "% of a step", "text-anchor=\"middle\"");
  return svg.str();
}

}  // namespace

std::vector<OutputFile> scale_sweep_plots(const SweepAnswer& answer, const std::string& folder) {
  const std::string begin = folder + "/" + std::string(to_name(answer.question.axis));
  return {{begin + "-throughput.svg", plot_sweep_throughput(answer)},
          {begin + "-parts.svg", plot_sweep_parts(answer)}};
}

}  // namespace headway
