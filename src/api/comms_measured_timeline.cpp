// The timeline: a row for each rank, its calls above, its computation below. Times that cannot be
// told apart at the width of the drawing are drawn as one, so that its size is bounded.
#include <algorithm>
#include <cmath>
#include <map>

#include "api/comms_measured_plots.hpp"
#include "base/draw/plot.hpp"
#include "base/text.hpp"
#include "trace/recording/rank_names.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostRanks = 128;
constexpr double kWidth = 960, kLeft = 110, kRight = 944, kTop = 92;

struct Strip {
  double begin, end;  // s from the first kernel
};

// Strips sorted and joined where less than a third of a pixel lies between them.
std::vector<Strip> joined(std::vector<Strip> strips, double seconds_a_pixel) {
  std::sort(strips.begin(), strips.end(),
            [](const Strip& a, const Strip& b) { return a.begin < b.begin; });
  std::vector<Strip> out;
  for (const Strip& strip : strips) {
    if (!out.empty() && strip.begin - out.back().end < seconds_a_pixel / 3) {
      out.back().end = std::max(out.back().end, strip.end);
    } else {
      out.push_back(strip);
    }
  }
  return out;
}

struct Row {
  std::map<Operation, std::vector<Strip>> waiting, transfer;
  std::vector<Strip> compute;
};

// When something starts on the common clock, in seconds; exact until the first is subtracted.
std::optional<std::int64_t> shifted(std::int64_t start, const std::optional<std::int64_t>& offset,
                                    bool several) {
  if (!offset && several) return std::nullopt;  // its clock shares no collective with the others
  std::int64_t sum = 0;
  if (__builtin_add_overflow(start, offset.value_or(0), &sum)) return std::nullopt;
  return sum;
}

struct Timeline {
  std::map<std::uint32_t, Row> rows;
  double span = 0;           // s
  std::size_t unplaced = 0;  // ranks whose clock is not known
};

Timeline timeline_of(const Measured& measured) {
  const Recording& recording = measured.recording();
  const auto& offsets = measured.alignment.clock_offset_ns;
  const bool several = std::any_of(offsets.begin(), offsets.end(),
                                   [](const auto& offset) { return offset.has_value(); });
  const std::vector<std::int64_t> collective = collective_of_calls(measured);
  struct Kernel {
    std::uint32_t rank;
    std::int64_t start;
    double seconds, waiting;
    Operation op;
    bool compute;
  };
  std::vector<Kernel> kernels;
  const auto timed = [](TimeKind kind) {
    return kind == TimeKind::kernel || kind == TimeKind::host;
  };
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const RecordedCall& call = recording.calls[i];
    if (!call.start_ns || !call.duration || !timed(call.time)) continue;
    const auto start = shifted(*call.start_ns, offsets[call.rank], several);
    if (!start) continue;
    const Seconds transfer =
        collective[i] < 0
            ? *call.duration
            : measured.alignment.matched[static_cast<std::size_t>(collective[i])].transfer;
    kernels.push_back({call.rank, *start, call.duration->value(),
                       (*call.duration - transfer).value(), call.op, false});
  }
  if (kernels.empty()) return {};
  std::vector<bool> has_calls(recording.ranks.size());
  for (const Kernel& kernel : kernels) has_calls[kernel.rank] = true;
  for (const RecordedCompute& compute : recording.compute) {
    if (!has_calls[compute.rank]) continue;
    const auto start = shifted(compute.start_ns, offsets[compute.rank], several);
    if (start) {
      kernels.push_back({compute.rank, *start, static_cast<double>(compute.duration_ns) * 1e-9, 0,
                         Operation::other, true});
    }
  }
  const auto first =
      std::min_element(kernels.begin(), kernels.end(),
                       [](const Kernel& a, const Kernel& b) { return a.start < b.start; });
  const std::int64_t zero = first->start;
  Timeline out;
  for (const Kernel& kernel : kernels) {
    const double begin = static_cast<double>(static_cast<std::uint64_t>(kernel.start) -
                                             static_cast<std::uint64_t>(zero)) *
                         1e-9;
    const double end = begin + kernel.seconds;
    out.span = std::max(out.span, end);
    Row& row = out.rows[kernel.rank];
    if (kernel.compute) {
      row.compute.push_back({begin, end});
    } else {
      row.transfer[kernel.op].push_back({begin + kernel.waiting, end});
      if (kernel.waiting > 0) row.waiting[kernel.op].push_back({begin, begin + kernel.waiting});
    }
  }
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    out.unplaced += several && !offsets[i] ? 1 : 0;
  }
  return out;
}

}  // namespace

std::string timeline_plot(const Measured& measured) {
  const Timeline timeline = timeline_of(measured);
  if (timeline.rows.empty() || !(timeline.span > 0)) return {};
  const Recording& recording = measured.recording();
  const std::vector<std::string> names = rank_names(recording);
  std::vector<std::uint32_t> ranks;
  for (const std::uint32_t rank : rank_order(recording)) {
    if (timeline.rows.contains(rank)) ranks.push_back(rank);
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
    const Row& row = timeline.rows.at(rank);
    const auto draw = [&](const std::vector<Strip>& strips, double top, double thick,
                          const std::string& style) {
      for (const Strip& strip : joined(strips, pixel)) {
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
