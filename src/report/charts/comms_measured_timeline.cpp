// The timeline: a row for each rank, its calls above, its computation below. Times that cannot be
// told apart at the width of the drawing are drawn as one, so that its size is bounded.
#include <algorithm>
#include <cmath>

#include "base/draw/plot.hpp"
#include "base/text.hpp"
#include "report/charts/comms_measured.hpp"
#include "report/charts/operations.hpp"
#include "study/measured/timeline.hpp"
#include "trace/recording/rank_names.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostRanks = 128;

// Strips sorted and joined where less than a third of a pixel lies between them.
std::vector<TimeStrip> joined(std::vector<TimeStrip> strips, double seconds_a_pixel) {
  std::sort(strips.begin(), strips.end(),
            [](const TimeStrip& a, const TimeStrip& b) { return a.begin < b.begin; });
  std::vector<TimeStrip> out;
  for (const TimeStrip& strip : strips) {
    if (!out.empty() && strip.begin - out.back().end < seconds_a_pixel / 3) {
      out.back().end = std::max(out.back().end, strip.end);
    } else {
      out.push_back(strip);
    }
  }
  return out;
}

}  // namespace

std::string timeline_plot(const Measured& measured) {
  constexpr double kWidth = 960, kLeft = 110, kRight = 944, kTop = 92;
  const MeasuredTimeline timeline = timeline_of(measured);
  if (timeline.ranks.empty() || !(timeline.span > 0)) return {};
  const Recording& recording = measured.recording();
  const std::vector<std::string> names = rank_names(recording);
  std::vector<std::uint32_t> ranks;
  for (const std::uint32_t rank : rank_order(recording)) {
    if (timeline.ranks.contains(rank)) ranks.push_back(rank);
  }
  const std::size_t left_out = ranks.size() > kMostRanks ? ranks.size() - kMostRanks : 0;
  ranks.resize(ranks.size() - left_out);

  const double height = ranks.size() <= 16 ? 34 : ranks.size() <= 48 ? 18 : 11;
  const double bottom = kTop + height * static_cast<double>(ranks.size());
  Svg svg(kWidth, bottom + 48, "Communication of each rank over time");
  std::string how = "Calls above, computation (grey) below.";
  if (!measured.alignment.matched.empty()) {
    how =
        "Calls above (pale: waiting for the last rank), computation (grey) below; all on the "
        "clock of one rank.";
  }
  if (left_out + timeline.unplaced > 0) {
    how += " Not shown: " + std::to_string(left_out + timeline.unplaced) + " ranks.";
  }
  draw_heading(svg, "Communication over time", how);
  std::vector<LegendEntry> legend;
  for (const Operation op : operations_of(measured)) {
    legend.push_back({std::string(to_name(op)), colour_of(op)});
  }
  legend.push_back({"computation", kGrey});
  draw_legend(svg, {kLeft, 72}, legend);

  const bool short_span = timeline.span < 5e-3;
  const double unit = short_span ? 1e-6 : timeline.span < 5 ? 1e-3 : 1;
  const Panel panel = {{0, timeline.span / unit, kLeft, kRight}, {0, 1, bottom, kTop}, true};
  draw_panel(svg, panel);
  const double pixel = timeline.span / (kRight - kLeft);
  double y = kTop;
  for (const std::uint32_t rank : ranks) {
    const MeasuredRank& row = timeline.ranks.at(rank);
    const auto draw = [&](const std::vector<TimeStrip>& strips, double top, double thick,
                          const std::string& style) {
      for (const TimeStrip& strip : joined(strips, pixel)) {
        const double left = panel.x.at(strip.begin / unit);
        const double width = std::max(0.6, panel.x.at(strip.end / unit) - left);
        svg.rect({left, y + top * height}, width, thick * height, style);
      }
    };
    svg.text({kLeft - 7, y + height / 2 + 4}, printable(names[rank], 14), "text-anchor=\"end\"");
    svg.line({kLeft, y}, {kRight, y}, "stroke=\"#e7eaed\"");
    for (const auto& [op, strips] : row.waiting) {
      draw(strips, 0.1, 0.48, "fill=\"" + std::string(colour_of(op)) + "\" opacity=\".3\"");
    }
    for (const auto& [op, strips] : row.transfer) {
      draw(strips, 0.1, 0.48, "fill=\"" + std::string(colour_of(op)) + "\"");
    }
    draw(row.compute, 0.64, 0.24, "fill=\"" + std::string(kGrey) + "\"");
    y += height;
  }
  draw_axis_titles(svg, panel,
                   short_span          ? "time (us)"
                   : timeline.span < 5 ? "time (ms)"
                                       : "time (s)",
                   "");
  return svg.str();
}

}  // namespace headway
