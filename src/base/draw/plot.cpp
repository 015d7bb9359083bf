#include "base/draw/plot.hpp"

#include <algorithm>
#include <cmath>

#include "base/formatted.hpp"

namespace headway {
namespace {

// 10^power without the rounding of repeated products.
double power_of_ten(int power) {
  return std::pow(10.0, power);
}

std::vector<double> log_ticks(const Scale& scale, double most) {
  const int first = static_cast<int>(std::floor(std::log10(scale.low)));
  const int last = static_cast<int>(std::ceil(std::log10(scale.high)));
  const auto pick = [&](std::initializer_list<double> factors, int every) {
    std::vector<double> out;
    for (int power = first; power <= last; ++power) {
      if (power % every != 0) continue;
      for (const double factor : factors) {
        const double value = factor * power_of_ten(power);
        if (value >= scale.low && value <= scale.high) out.push_back(value);
      }
    }
    return out;
  };
  std::vector<double> out = pick({1, 2, 5}, 1);
  for (int every = 1; static_cast<double>(out.size()) > most && every <= 8; ++every) {
    out = pick({1}, every);
  }
  return out;
}

std::vector<double> linear_ticks(const Scale& scale, double most) {
  const double span = scale.high - scale.low;
  for (int power = static_cast<int>(std::floor(std::log10(span))) - 2;; ++power) {
    for (const double factor : {1, 2, 5}) {
      const double step = factor * power_of_ten(power);
      if (span / step > most) continue;
      std::vector<double> out;
      const auto begin = static_cast<std::int64_t>(std::ceil(scale.low / step - 1e-9));
      const auto end = static_cast<std::int64_t>(std::floor(scale.high / step + 1e-9));
      for (std::int64_t i = begin; i <= end; ++i) out.push_back(static_cast<double>(i) * step);
      return out;
    }
  }
}

}  // namespace

double Scale::at(double value) const {
  const double share =
      log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return from + std::clamp(share, 0.0, 1.0) * (to - from);
}

Scale log_scale(std::span<const double> values, double from, double to) {
  Scale scale{1, 10, from, to, true};
  if (values.empty()) return scale;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  constexpr double kAir = 1.15, kNarrowest = 4;
  const double widen = std::max(1.0, std::sqrt(kNarrowest / (*most / *least)));
  scale.low = *least / (widen * kAir);
  scale.high = *most * widen * kAir;
  return scale;
}

std::vector<double> ticks(const Scale& scale) {
  const double most = std::max(2.0, std::abs(scale.to - scale.from) / 36);
  return scale.log ? log_ticks(scale, most) : linear_ticks(scale, most);
}

std::string tick_label(double value) {
  std::string out = formatted("%.6g", std::abs(value) < 1e-12 ? 0 : value);
  std::erase(out, '+');  // 1e28
  if (std::abs(value) < 1000 || out.find_first_of("e.") != out.npos) return out;
  for (std::size_t at = out.size() - 3; at > (value < 0 ? 1U : 0U); at -= 3) {
    out.insert(at, ",");
    if (at < 4) break;
  }
  return out;
}

std::string size_label(Bytes size) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  int unit = 0;
  double value = size.value();
  for (; value >= 1024 && unit < 5; ++unit) value /= 1024;
  return tick_label(value) + " " + units[unit];
}

std::vector<Tick> size_ticks(const Scale& scale) {
  const double most = std::max(2.0, std::abs(scale.to - scale.from) / 60);
  const int first = static_cast<int>(std::ceil(std::log2(scale.low)));
  const int last = static_cast<int>(std::floor(std::log2(scale.high)));
  const int every = std::max(1, static_cast<int>(std::ceil((last - first + 1) / most)));
  std::vector<Tick> out;
  for (int power = first; power <= last; ++power) {
    if (power % every != 0) continue;
    const double size = std::ldexp(1.0, power);
    out.push_back({size, size_label(Bytes(size))});
  }
  return out;
}

void draw_panel(Svg& svg, const Panel& panel, std::span<const Tick> x) {
  const double left = panel.x.from, right = panel.x.to, bottom = panel.y.from, top = panel.y.to;
  for (const Tick& tick : x) {
    const double at = panel.x.at(tick.value);
    svg.line({at, bottom}, {at, top}, "stroke=\"#e7eaed\"");
    svg.text({at, bottom + 14}, tick.label, "text-anchor=\"middle\" fill=\"#6e7781\"");
  }
  for (const double value : panel.rows ? std::vector<double>() : ticks(panel.y)) {
    const double y = panel.y.at(value);
    svg.line({left, y}, {right, y}, "stroke=\"#e7eaed\"");
    svg.text({left - 5, y + 4}, tick_label(value), "text-anchor=\"end\" fill=\"#6e7781\"");
  }
  svg.rect({left, top}, right - left, bottom - top, "fill=\"none\" stroke=\"#c9d1d9\"");
}

void draw_panel(Svg& svg, const Panel& panel) {
  std::vector<Tick> x;
  for (const double value : ticks(panel.x)) x.push_back({value, tick_label(value)});
  draw_panel(svg, panel, x);
}

void draw_axis_titles(Svg& svg, const Panel& panel, std::string_view x, std::string_view y) {
  const Point bottom = {(panel.x.from + panel.x.to) / 2, panel.y.from + 32};
  svg.text(bottom, x, "text-anchor=\"middle\"");
  svg.text_upwards({panel.x.from - 40, (panel.y.from + panel.y.to) / 2}, y);
}

void draw_diagonal(Svg& svg, const Panel& panel) {
  const double low = panel.x.low, high = panel.x.high;
  const auto at = [&](double x, double y) { return Point{panel.x.at(x), panel.y.at(y)}; };
  constexpr double kLess = 0.8, kMore = 1.2;
  const Point band[] = {at(low, low * kMore),   at(high / kMore, high), at(high, high),
                        at(high, high * kLess), at(low / kLess, low),   at(low, low)};
  svg.polygon(band, "fill=\"#dfe5ec\"");
  svg.line(at(low, low), at(high, high), "stroke=\"#6e7781\"");
}

void draw_legend(Svg& svg, Point at, std::span<const LegendEntry> entries) {
  for (const LegendEntry& entry : entries) {
    const std::string fill = "rx=\"5\" fill=\"" + std::string(entry.colour) + "\"";
    svg.rect({at.x, at.y - 9}, 10, 10, fill);
    svg.text({at.x + 15, at.y}, entry.label);
    at.x += 15 + 6.6 * static_cast<double>(entry.label.size()) + 18;
  }
}

void draw_heading(Svg& svg, std::string_view title, std::string_view how_to_read) {
  svg.text({16, 26}, title, "font-size=\"15\" font-weight=\"600\"");
  svg.text({16, 44}, how_to_read, "fill=\"#57606a\"");
}

std::string fill(std::string_view colour) {
  return "fill=\"" + std::string(colour) + "\"";
}

std::string stroke(std::string_view colour, bool dashed) {
  return "stroke=\"" + std::string(colour) + "\" stroke-width=\"2\"" +
         (dashed ? " stroke-dasharray=\"5 4\"" : "");
}

std::vector<Point> draw_curve(Svg& svg, const Panel& panel, const std::vector<Point>& values,
                              std::string_view colour, bool dashed) {
  std::vector<Point> places;
  for (const Point& value : values) {
    places.push_back({panel.x.at(value.x), panel.y.at(value.y)});
    if (places.size() > 1)
      svg.line(places[places.size() - 2], places.back(), stroke(colour, dashed));
  }
  return places;
}

}  // namespace headway
