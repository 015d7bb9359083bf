// Writes drawings as SVG: a light ground of their own, so that they are legible on a dark page too.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace headway {

/// In pixels; y points down.
struct Point {
  double x = 0, y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

/// One drawing. Coordinates are rounded to a tenth of a pixel: thousands of points stay small, and
/// the bytes do not depend on the last bits of a number. `style` is the text of further SVG
/// attributes, written as it is: `fill="#eee" opacity=".5"`.
class Svg {
 public:
  /// `title` says in words what the drawing shows, for those who cannot see it.
  Svg(double width, double height, std::string_view title);

  void rect(Point corner, double width, double height, std::string_view style);
  void line(Point from, Point to, std::string_view style);
  void polygon(std::span<const Point> corners, std::string_view style);
  /// Dots of one colour. Where many lie on one another it grows darker, in three steps. Dots that
  /// fall on the same tenth of a pixel are one.
  void dots(std::span<const Point> centres, double radius, std::string_view colour);
  void text(Point at, std::string_view text, std::string_view style = {});
  /// Turned to be read from below, its middle at `centre`.
  void text_upwards(Point centre, std::string_view text);

  /// The whole document.
  std::string str() const;

 private:
  std::string body_;
};

}  // namespace headway
