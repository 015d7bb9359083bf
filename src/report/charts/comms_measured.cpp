// Drawings of what was measured: volume, sizes, busbw. The timeline has a file of its own.
#include "report/charts/comms_measured.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/draw/plot.hpp"
#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "report/charts/operations.hpp"
#include "study/measured/rates.hpp"

namespace headway {
namespace {

// A unit in which the largest value is a number one can read.
struct ByteUnit {
  double bytes;
  std::string_view name;
};
ByteUnit unit_for(double most) {
  constexpr std::array<ByteUnit, 5> units = {
      {{1, "B"}, {1024, "KiB"}, {1048576, "MiB"}, {1073741824, "GiB"}, {1099511627776, "TiB"}}};
  ByteUnit chosen = units[0];
  for (const ByteUnit& unit : units) {
    if (most >= 2 * unit.bytes) chosen = unit;
  }
  return chosen;
}

// Bars from the left: what one rank sends by group and operation.
std::string volume_plot(const Measured& measured) {
  std::vector<CallTableRow> rows;
  for (const CallTableRow& row : measured.calls) {
    if (row.sized > 0 && row.time_kind != TimeKind::benchmark && row.bytes.value() > 0) {
      rows.push_back(row);
    }
  }
  if (rows.empty()) return {};
  const auto a_rank = [](const CallTableRow& row, Bytes bytes) {
    return bytes.value() / static_cast<double>(std::max<std::int64_t>(1, row.callers));
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const CallTableRow& a, const CallTableRow& b) {
    return a_rank(a, a.bytes) > a_rank(b, b.bytes);
  });
  constexpr std::size_t kMostRows = 20;
  if (rows.size() > kMostRows) rows.resize(kMostRows);
  double most = 0;
  for (const CallTableRow& row : rows) {
    most = std::max({most, a_rank(row, row.bytes), a_rank(row, row.wire_bytes.value_or(Bytes()))});
  }
  const ByteUnit unit = unit_for(most);
  constexpr double kWidth = 760, kLeft = 230, kRow = 40, kTop = 84;
  const double bottom = kTop + kRow * static_cast<double>(rows.size());
  Svg svg(kWidth, bottom + 48, "Bytes of one rank by group and operation");
  draw_heading(svg, "Volume by operation",
               "Of one rank, the mean over the ranks recorded; on the wire if the algorithm is a "
               "ring.");
  const LegendEntry legend[] = {{"tensors", kBlue}, {"on the wire", kVermilion}};
  draw_legend(svg, {kLeft, 68}, legend);
  const Panel panel = {
      {0, most / unit.bytes * 1.16, kLeft, kWidth - 20}, {0, 1, bottom, kTop}, true};
  draw_panel(svg, panel);
  double y = kTop;
  for (const CallTableRow& row : rows) {
    const std::string name = printable(group_name(measured.recording(), row.group), 18) + " " +
                             std::string(to_name(row.op));
    const double calls = row.count / static_cast<double>(std::max<std::int64_t>(1, row.callers));
    svg.text({kLeft - 8, y + 18}, name, "text-anchor=\"end\"");
    svg.text({kLeft - 8, y + 31},
             tick_label(std::round(calls * 10) / 10) + " calls" +
                 (row.ranks ? ", " + std::to_string(*row.ranks) + " ranks" : std::string()),
             "text-anchor=\"end\" fill=\"#6e7781\"");
    const auto bar = [&](double at, double bytes, std::string_view colour) {
      const double end = panel.x.at(bytes / unit.bytes);
      svg.rect({kLeft, at}, std::max(1.0, end - kLeft), 12, fill(colour) + " rx=\"1\"");
      svg.text({end + 5, at + 10}, to_text(Bytes(bytes)), "fill=\"#57606a\"");
    };
    bar(y + 7, a_rank(row, row.bytes), kBlue);
    if (row.wire_bytes) bar(y + 21, a_rank(row, *row.wire_bytes), kVermilion);
    y += kRow;
  }
  draw_axis_titles(svg, panel, std::string(unit.name) + " of one rank", "");
  return svg.str();
}

// Share of the calls and of the bytes by size.
std::string sizes_plot(const Measured& measured) {
  const std::vector<SizeHistogram::Bin> bins = measured.sizes.bins();
  if (bins.empty()) return {};
  const SizeHistogram::Bin all = measured.sizes.all();
  constexpr double kWidth = 760, kHeight = 330, kLeft = 64, kRight = 744, kTop = 86, kBottom = 280;
  Svg svg(kWidth, kHeight, "Share of calls and of bytes by message size");
  draw_heading(svg, "Message sizes",
               "By powers of two: a bin holds the sizes from its label up to the next.");
  const LegendEntry legend[] = {{"share of calls", kBlue}, {"share of bytes", kVermilion}};
  draw_legend(svg, {kLeft, 70}, legend);
  double most = 0;
  for (const SizeHistogram::Bin& bin : bins) {
    most = std::max({most, bin.count / all.count, bin.bytes / all.bytes});
  }
  const Panel panel = {{0, static_cast<double>(bins.size()), kLeft, kRight},
                       {0, std::min(100.0, 108 * most), kBottom, kTop}};
  const double width = (kRight - kLeft) / static_cast<double>(bins.size());
  std::vector<Tick> labels;
  const std::size_t every = 1 + static_cast<std::size_t>(52 / width);
  for (std::size_t i = 0; i < bins.size(); i += every) {
    labels.push_back({static_cast<double>(i) + 0.5, size_label(bins[i].from)});
  }
  draw_panel(svg, panel, labels);
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double left = panel.x.at(static_cast<double>(i)) + width * 0.12;
    const auto bar = [&](double at, double share, std::string_view colour) {
      const double top = panel.y.at(100 * share);
      if (share > 0) {
        svg.rect({at, std::min(top, kBottom - 0.7)}, width * 0.36, std::max(0.7, kBottom - top),
                 fill(colour));
      }
    };
    bar(left, bins[i].count / all.count, kBlue);
    bar(left + width * 0.38, bins[i].bytes / all.bytes, kVermilion);
  }
  draw_axis_titles(svg, panel, "size of the message (the whole tensor)", "share (%)");
  return svg.str();
}

// What the cost model expects of the cluster, a line for each operation and number of ranks.
void draw_ceilings(Svg& svg, const Panel& panel, const std::vector<MeasuredRate>& points,
                   const Cluster& cluster) {
  std::vector<std::pair<Operation, double>> drawn;
  for (const MeasuredRate& point : points) {
    const auto key = std::pair(point.op, point.ranks);
    if (point.ranks < 2 || std::find(drawn.begin(), drawn.end(), key) != drawn.end()) continue;
    drawn.push_back(key);
    constexpr int kSteps = 60;
    std::vector<Bytes> sizes;
    for (int i = 0; i <= kSteps; ++i) {
      sizes.emplace_back(panel.x.low * std::pow(panel.x.high / panel.x.low, i / double{kSteps}));
    }
    const std::vector<BytesPerSecond> rates =
        modelled_rates(point.op, static_cast<std::int64_t>(point.ranks), sizes, cluster);
    std::optional<Point> last;  // nothing where the curve lies outside
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const double rate = rates[i].value() / 1e9;
      const bool inside = rate >= panel.y.low && rate <= panel.y.high;
      const Point at = {panel.x.at(sizes[i].value()), panel.y.at(rate)};
      if (inside && last) {
        svg.line(*last, at,
                 "stroke=\"" + std::string(colour_of(point.op)) + "\" stroke-dasharray=\"5 3\"");
      }
      last = inside ? std::optional(at) : std::nullopt;
    }
  }
}

// How to read the dots.
std::string_view meaning_of(const Measured& measured) {
  if (!measured.alignment.matched.empty()) {
    return "Of collectives seen on several ranks, the transfer without waiting";
  }
  const bool kernels =
      std::any_of(measured.calls.begin(), measured.calls.end(),
                  [](const CallTableRow& row) { return row.time_kind == TimeKind::kernel; });
  return kernels ? "Each call; its time holds the waiting for other ranks"
                 : "Each call; busbw as nccl-tests counts it";
}

std::string busbw_plot(const Measured& measured, const Cluster* cluster) {
  const std::vector<MeasuredRate> points = rates_of(measured);
  if (points.empty()) return {};
  std::vector<double> sizes, rates;
  for (const MeasuredRate& point : points) {
    sizes.push_back(std::max(1.0, point.bytes.value()));
    rates.push_back(point.rate.value() / 1e9);
  }
  constexpr double kWidth = 760, kHeight = 430, kLeft = 76, kRight = 744, kTop = 86, kBottom = 378;
  if (cluster != nullptr) {  // room for the rate that the accelerators' links have
    rates.push_back(cluster->levels.front().bandwidth.value() / 1e9);
  }
  const Panel panel = {log_scale(sizes, kLeft, kRight), log_scale(rates, kBottom, kTop)};
  Svg svg(kWidth, kHeight, "Bus bandwidth against message size");
  draw_heading(
      svg, "busbw against size",
      std::string(meaning_of(measured)) +
          (cluster == nullptr ? std::string()
                              : "; dashed: what is expected of " + printable(cluster->name, 40)) +
          ".");
  std::vector<LegendEntry> legend;
  for (const Operation op : operations_of(measured)) {
    const bool has = std::any_of(points.begin(), points.end(),
                                 [&](const MeasuredRate& point) { return point.op == op; });
    if (has) legend.push_back({std::string(to_name(op)), colour_of(op)});
  }
  draw_legend(svg, {kLeft, 70}, legend);
  draw_panel(svg, panel, size_ticks(panel.x));
  if (cluster != nullptr) draw_ceilings(svg, panel, points, *cluster);
  for (const LegendEntry& entry : legend) {
    std::vector<Point> dots;
    for (const MeasuredRate& point : points) {
      if (to_name(point.op) != entry.label) continue;
      dots.push_back(
          {panel.x.at(std::max(1.0, point.bytes.value())), panel.y.at(point.rate.value() / 1e9)});
    }
    svg.dots(dots, 3, entry.colour);
  }
  draw_axis_titles(svg, panel, "size of the message (the whole tensor)", "busbw (GB/s)");
  return svg.str();
}

}  // namespace

std::vector<Operation> operations_of(const Measured& measured) {
  std::vector<Operation> out;
  for (const CallTableRow& row : measured.calls) out.push_back(row.op);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<OutputFile> measured_plots(const Measured& measured, const Cluster* cluster,
                                       const std::string& folder) {
  std::vector<OutputFile> out;
  for (auto& [name, svg] : {std::pair{"volume", volume_plot(measured)},
                            {"sizes", sizes_plot(measured)},
                            {"timeline", timeline_plot(measured)},
                            {"busbw", busbw_plot(measured, cluster)}}) {
    if (!svg.empty()) out.push_back({folder + "/" + name + ".svg", svg});
  }
  return out;
}

}  // namespace headway
