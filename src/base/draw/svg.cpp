#include "base/draw/svg.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace headway {
namespace {

// A place in tenths of a pixel.
using Tenths = std::pair<std::int64_t, std::int64_t>;

// What is no number stands at 0, what is beyond any drawing at its end.
std::int64_t tenths(double value) {
  constexpr double kFarthest = 1e6;
  return std::isnan(value) ? 0 : std::llround(std::clamp(value, -kFarthest, kFarthest) * 10);
}

std::string text_of(std::int64_t value) {
  std::string out = value < 0 ? "-" : "";
  const std::int64_t size = std::abs(value);
  if (size >= 10 || size == 0) out += std::to_string(size / 10);
  if (size % 10 != 0) out += "." + std::to_string(size % 10);
  return out;
}

std::string number(double value) {
  return text_of(tenths(value));
}

std::string attribute(std::string_view name, double value) {
  return " " + std::string(name) + "=\"" + number(value) + "\"";
}

std::string styled(std::string_view style) {
  return style.empty() ? std::string() : " " + std::string(style);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text, 500)) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

// Lines without length, one a dot; their round caps are what one sees.
std::string dots_path(const std::vector<Tenths>& places) {
  std::string path;
  Tenths last = {0, 0};
  for (const Tenths& place : places) {
    const std::int64_t dy = place.second - last.second;
    path += "m" + text_of(place.first - last.first);
    if (dy >= 0) path += " ";
    path += text_of(dy) + "h0";
    last = place;
  }
  return path;
}

}  // namespace

Svg::Svg(double width, double height, std::string_view title)
    : body_("<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", width) +
            attribute("height", height) + " viewBox=\"0 0 " + number(width) + " " + number(height) +
            "\" role=\"img\" font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', "
            "Helvetica, Arial, sans-serif\" font-size=\"11\" fill=\"#24292f\">\n<title>" +
            escaped(title) + "</title>\n") {
  rect({0, 0}, width, height, "rx=\"6\" fill=\"#fff\"");
}

void Svg::rect(Point corner, double width, double height, std::string_view style) {
  body_ += "<rect" + attribute("x", corner.x) + attribute("y", corner.y) +
           attribute("width", width) + attribute("height", height) + styled(style) + "/>\n";
}

void Svg::line(Point from, Point to, std::string_view style) {
  body_ += "<path d=\"M" + number(from.x) + " " + number(from.y) + "L" + number(to.x) + " " +
           number(to.y) + "\"" + styled(style) + "/>\n";
}

void Svg::polygon(std::span<const Point> corners, std::string_view style) {
  body_ += "<path d=\"";
  char command = 'M';
  for (const Point& corner : corners) {
    body_ += command + number(corner.x) + " " + number(corner.y);
    command = 'L';
  }
  body_ += "z\"" + styled(style) + "/>\n";
}

void Svg::dots(std::span<const Point> centres, double radius, std::string_view colour) {
  std::vector<Tenths> places;
  for (const Point& centre : centres) places.emplace_back(tenths(centre.x), tenths(centre.y));
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  // Within one path, dots on one another look like one: three paths make the steps.
  constexpr std::size_t kSteps = 3;
  for (std::size_t step = 0; step < std::min(kSteps, places.size()); ++step) {
    std::vector<Tenths> some;
    for (std::size_t i = step; i < places.size(); i += kSteps) some.push_back(places[i]);
    body_ += "<path d=\"" + dots_path(some) + "\" stroke=\"" + std::string(colour) +
             "\" stroke-linecap=\"round\"" + attribute("stroke-width", 2 * radius) +
             " opacity=\".55\"/>\n";
  }
}

void Svg::text(Point at, std::string_view text, std::string_view style) {
  body_ += "<text" + attribute("x", at.x) + attribute("y", at.y) + styled(style) + ">" +
           escaped(text) + "</text>\n";
}

void Svg::text_upwards(Point centre, std::string_view text) {
  body_ += "<text text-anchor=\"middle\" transform=\"translate(" + number(centre.x) + " " +
           number(centre.y) + ") rotate(-90)\">" + escaped(text) + "</text>\n";
}

std::string Svg::str() const {
  return body_ + "</svg>\n";
}

}  // namespace headway
