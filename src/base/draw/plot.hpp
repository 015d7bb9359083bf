// What plots are made of: scales with their ticks, axes, legends, colours.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/draw/svg.hpp"
#include "base/quantity.hpp"

namespace headway {

/// Colours that people with any colour vision tell apart (Okabe & Ito 2008).
constexpr std::string_view kBlue = "#0072b2", kVermilion = "#d55e00", kGreen = "#009e73",
                           kPurple = "#cc79a7", kOrange = "#e69f00", kSky = "#56b4e9",
                           kInk = "#24292f", kGrey = "#6e7781";

/// `fill="#0072b2"`; `stroke="#0072b2" stroke-width="2"`: attributes of a colour.
std::string fill(std::string_view colour);
std::string stroke(std::string_view colour, bool dashed = false);

/// Maps values to a place between two pixels; values outside lie on the border.
struct Scale {
  double low = 0, high = 1;
  double from = 0, to = 1;  // pixels of low and high
  bool log = false;

  double at(double value) const;
};

/// A logarithmic scale that holds all values, which are above zero, with a little air; at least a
/// factor of 4.
Scale log_scale(std::span<const double> values, double from, double to);

/// Round values on the scale: 1, 2 or 5 times a power of ten (of few powers on a wide logarithmic
/// scale only these), at most about one in 36 pixels.
std::vector<double> ticks(const Scale& scale);
/// "0.05", "20", "1,000".
std::string tick_label(double value);

/// A panel: grid, frame and tick labels, to be drawn before what it shows.
struct Panel {
  Scale x, y;         // y.from is the lower border
  bool rows = false;  // instead of values along y, which has no ticks
};
void draw_panel(Svg& svg, const Panel& panel);

struct Tick {
  double value;
  std::string label;
};
/// The same with other ticks than round numbers along x.
void draw_panel(Svg& svg, const Panel& panel, std::span<const Tick> x);

/// "4 KiB" of a power of two.
std::string size_label(Bytes size);
/// Powers of two on a logarithmic scale of bytes, at most about one in 60 pixels.
std::vector<Tick> size_ticks(const Scale& scale);
void draw_axis_titles(Svg& svg, const Panel& panel, std::string_view x, std::string_view y);

/// A line through values; where they lie.
std::vector<Point> draw_curve(Svg& svg, const Panel& panel, const std::vector<Point>& values,
                              std::string_view colour, bool dashed = false);

/// The diagonal where both are equal, and the band of 20 % about it. Both scales are equal.
void draw_diagonal(Svg& svg, const Panel& panel);

struct LegendEntry {
  std::string label;
  std::string_view colour;
};
/// In one line, from `at` to the right.
void draw_legend(Svg& svg, Point at, std::span<const LegendEntry> entries);

/// The title of a plot and the line under it that says how to read it.
void draw_heading(Svg& svg, std::string_view title, std::string_view how_to_read);

}  // namespace headway
