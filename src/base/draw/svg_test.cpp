#include "base/draw/svg.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace headway {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Svg, BringsItsOwnLightGroundAndATitle) {
  const std::string svg = Svg(200, 100, "a < b").str();
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\""));
  EXPECT_TRUE(contains(svg, "<title>a &lt; b</title>"));
  EXPECT_TRUE(contains(svg, "width=\"200\" height=\"100\" rx=\"6\" fill=\"#fff\"/>"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(Svg, NumbersAreTenthsWithoutIdleZeros) {
  Svg svg(9, 9, "");
  svg.line({1.04, -0.04}, {-0.5, 12.3456}, "");
  EXPECT_TRUE(contains(svg.str(), "d=\"M1 0L-.5 12.3\""));
}

TEST(Svg, WhatIsNoNumberOrBeyondAnyDrawingIsDrawnNevertheless) {
  Svg svg(9, 9, "");
  svg.line({std::nan(""), HUGE_VAL}, {-HUGE_VAL, 1e300}, "");
  EXPECT_TRUE(contains(svg.str(), "d=\"M0 1000000L-1000000 1000000\"")) << svg.str();
}

TEST(Svg, TextCannotBreakTheDocument) {
  Svg svg(9, 9, "");
  svg.text({0, 0}, std::string_view("<script>\"&\0\x1b", 12));
  EXPECT_TRUE(contains(svg.str(), ">&lt;script&gt;&quot;&amp;\\x00\\x1b</text>"));
}

TEST(Svg, DotsAreStepsFromOneToTheNextAndEqualOnesOne) {
  Svg svg(9, 9, "");
  svg.dots(std::vector<Point>{{3, 4}, {1, 2}, {3.01, 4}}, 1.5, "#000");
  // Two dots, each in a path of its own.
  EXPECT_TRUE(contains(svg.str(), "d=\"m1 2h0\" stroke=\"#000\""));
  EXPECT_TRUE(contains(svg.str(), "d=\"m3 4h0\""));
  EXPECT_TRUE(contains(svg.str(), "stroke-width=\"3\""));
  Svg many(9, 9, "");
  many.dots(std::vector<Point>{{1, 9}, {2, 9}, {3, 9}, {4, 7.5}}, 1, "#000");
  EXPECT_TRUE(contains(many.str(), "d=\"m1 9h0m3-1.5h0\""));  // the first and the fourth
}

TEST(Svg, AThousandDotsStayUnder16Kilobytes) {
  std::vector<Point> dots;
  for (int i = 0; i < 1000; ++i) dots.push_back({i * 0.37, (i * 7919 % 1000) * 0.3});
  Svg svg(400, 300, "");
  svg.dots(dots, 1.5, "#000");
  EXPECT_LT(svg.str().size(), 16000U);
}

}  // namespace
}  // namespace headway
