#include "report/infer/plots.hpp"

#include <algorithm>
#include <array>

#include "base/draw/plot.hpp"
#include "base/text.hpp"
#include "report/infer/parts.hpp"

namespace headway {
namespace {

constexpr double kWidth = 860, kHeight = 440, kTop = 96, kBottom = 380;
constexpr std::string_view kOfUser = "tokens/s of a user", kOfAccelerator = "tokens/s of a GPU";

std::string title_of(const Serving& serving, std::int64_t accelerators) {
  return printable(serving.model.name, 40) + " on " + std::to_string(accelerators) + " " +
         printable(serving.cluster.accelerator.title, 40);
}

std::string lengths_of(const Load& load) {
  return count_text(static_cast<double>(load.input)) + " tokens in, " +
         count_text(static_cast<double>(load.output)) + " out";
}

// A colour of several curves over the same loads.
struct Curve {
  std::string label;
  std::string_view colour;
  std::vector<Point> values;
};

void draw_curves(Svg& svg, const Panel& panel, const std::vector<Curve>& curves) {
  draw_panel(svg, panel);
  for (const Curve& curve : curves) {
    const std::vector<Point> places = draw_curve(svg, panel, curve.values, curve.colour);
    svg.dots(places, 3, curve.colour);
  }
}

std::vector<double> along(const std::vector<Curve>& curves, double Point::*of) {
  std::vector<double> out;
  for (const Curve& curve : curves) {
    for (const Point& value : curve.values) out.push_back(value.*of);
  }
  return out;
}

// Times against the load: of the first token with its p90, of each after it. Those of one sort
// alone are above zero where there are none.
std::vector<Curve> time_curves(const LoadCurve& curve, std::int64_t copies) {
  Curve first{"first token", kBlue, {}}, slow{"its p90", kSky, {}},
      each{"each after it", kVermilion, {}};
  for (const auto& [load, served, intervals] : curve.points) {
    const double at = curve.of == CurveOf::rate ? load.rate * static_cast<double>(copies)
                                                : static_cast<double>(load.batch);
    first.values.push_back({at, served.first_token.value() * 1e3});
    if (served.first_quantiles) {
      slow.values.push_back({at, served.first_quantiles->p90.value() * 1e3});
    }
    if (served.each_token > Seconds(0)) {
      each.values.push_back({at, served.each_token.value() * 1e3});
    }
  }
  std::vector<Curve> out;
  for (Curve& of : {std::ref(first), std::ref(slow), std::ref(each)}) {
    if (!of.values.empty()) out.push_back(std::move(of));
  }
  return out;
}

std::string_view axis_of(CurveOf of) {
  switch (of) {
    case CurveOf::rate:
      return "requests a second";
    case CurveOf::batch:
      return "sequences of each copy";
    case CurveOf::clients:
      break;
  }
  return "clients of each copy";
}

// What a curve is of: accelerators, copies that share a rate, what the axis of loads is called.
struct CurvedWay {
  std::string title;
  std::int64_t ranks = 1, copies = 1;
  std::string_view axis;
};

// Times along the load, and beside them users' speed against accelerators'.
std::string curve_svg(const CurvedWay& way, const Load& asked, const LoadCurve& curve) {
  const std::vector<Curve> times = time_curves(curve, way.copies);
  Curve speed{"", kBlue, {}};
  for (const auto& [load, served, intervals] : curve.points) {
    if (served.each_token <= Seconds(0)) continue;
    speed.values.push_back(
        {1 / served.each_token.value(), served.output_per_second / static_cast<double>(way.ranks)});
  }
  Svg svg(kWidth, kHeight, way.title + " under ever more load");
  draw_heading(svg, way.title, lengths_of(asked) + ". A dot is a load.");
  std::vector<LegendEntry> legend;
  for (const Curve& each : times) legend.push_back({each.label, each.colour});
  draw_legend(svg, {70, 72}, legend);
  const Panel left{log_scale(along(times, &Point::x), 70, 410),
                   log_scale(along(times, &Point::y), kBottom, kTop)};
  draw_curves(svg, left, times);
  draw_axis_titles(svg, left, way.axis, "ms");
  if (!speed.values.empty()) {
    const std::vector<Curve> one = {speed};
    const Panel right{log_scale(along(one, &Point::x), 500, 840),
                      log_scale(along(one, &Point::y), kBottom, kTop)};
    draw_curves(svg, right, one);
    draw_axis_titles(svg, right, kOfUser, kOfAccelerator);
  }
  return svg.str();
}

// A way of the front.
struct Way {
  double of_user = 0, of_accelerator = 0;
  std::string split;
};

// Splits in the order in which they come first; more than there are colours share the last.
std::string front_svg(const std::string& title, const std::string& how,
                      const std::vector<Way>& ways) {
  constexpr std::array kColours = {kBlue, kVermilion, kGreen, kOrange, kPurple, kSky, kInk, kGrey};
  constexpr double kLeft = 80, kRight = 560;
  std::vector<std::string> splits;
  std::vector<double> xs, ys;
  for (const Way& way : ways) {
    if (std::find(splits.begin(), splits.end(), way.split) == splits.end()) {
      splits.push_back(way.split);
    }
    xs.push_back(way.of_user);
    ys.push_back(way.of_accelerator);
  }
  Svg svg(kWidth, kHeight, title + ": speed of a user against that of an accelerator");
  draw_heading(svg, title, how);
  const Panel panel{log_scale(xs, kLeft, kRight), log_scale(ys, kBottom, kTop)};
  draw_panel(svg, panel);
  draw_axis_titles(svg, panel, kOfUser, kOfAccelerator);
  for (std::size_t i = 0; i < splits.size() && i < kColours.size(); ++i) {
    const bool last = i + 1 == kColours.size();
    std::vector<Point> places;
    for (const Way& way : ways) {
      const auto at = std::find(splits.begin(), splits.end(), way.split) - splits.begin();
      if (static_cast<std::size_t>(at) != i && !(last && static_cast<std::size_t>(at) > i))
        continue;
      places.push_back({panel.x.at(way.of_user), panel.y.at(way.of_accelerator)});
    }
    svg.dots(places, 5, kColours[i]);
    const double y = kTop + 10 + 18 * static_cast<double>(i);
    svg.rect({kRight + 16, y - 9}, 10, 10, fill(kColours[i]));
    const bool more = last && splits.size() > kColours.size();
    svg.text({kRight + 32, y}, more ? "others" : printable(splits[i], 44), fill(kInk));
  }
  return svg.str();
}

std::string front_words(const Load& asked) {
  return lengths_of(asked) +
         ": no other way is as fast for a user and makes as much of an accelerator. Colours are "
         "splits.";
}

}  // namespace

std::vector<OutputFile> infer_curve_plots(const Serving& serving, const Load& asked,
                                          const LoadCurve& curve, const std::string& folder) {
  if (curve.points.empty()) return {};
  const std::string title = title_of(serving, serving.ranks()) + ", " + words_of(serving);
  const CurvedWay way{title, serving.ranks(), serving.dp, axis_of(curve.of)};
  return {{folder + "/load.svg", curve_svg(way, asked, curve)}};
}

std::vector<OutputFile> infer_curve_plots(const ServingApart& apart, const Load& asked,
                                          const ApartCurve& curve, const std::string& folder) {
  if (curve.points.empty()) return {};
  const std::string title = title_of(apart.decode, apart.ranks()) + ", " + pools_text(apart);
  const CurvedWay way{title, apart.ranks(), 1,
                      curve.of == CurveOf::rate ? axis_of(curve.of) : "clients of all copies"};
  return {{folder + "/load.svg", curve_svg(way, asked, curve)}};
}

std::vector<OutputFile> infer_best_plots(const Serving& base, const Load& asked,
                                         std::int64_t accelerators, const BestOffers& best,
                                         const std::string& folder) {
  if (best.front.empty()) return {};
  std::vector<Way> ways;
  for (const Offer& offer : best.front) {
    ways.push_back({offer.of_user(), offer.of_accelerator(), split_text(offer.serving)});
  }
  return {
      {folder + "/front.svg", front_svg(title_of(base, accelerators), front_words(asked), ways)}};
}

std::vector<OutputFile> infer_best_plots(const Serving& base, const Load& asked,
                                         std::int64_t accelerators, const BestApart& best,
                                         const std::string& folder) {
  if (best.front.empty()) return {};
  std::vector<Way> ways;
  for (const ApartOffer& offer : best.front) {
    ways.push_back({offer.of_user(), offer.of_accelerator(), pools_text(offer.apart)});
  }
  return {
      {folder + "/front.svg", front_svg(title_of(base, accelerators), front_words(asked), ways)}};
}

}  // namespace headway
