#include "report/charts/traffic.hpp"

#include <algorithm>
#include <cmath>

#include "base/draw/plot.hpp"
#include "base/quantity_text.hpp"
#include "report/charts/operations.hpp"
#include "study/traffic/sums.hpp"

namespace headway {
namespace {

constexpr std::string_view kGround = "stroke=\"#e7eaed\"", kFrame = "stroke=\"#c9d1d9\"";

// The operations that occur, in the order of their names in CollectiveOp.
std::vector<CollectiveOp> operations_of(const std::vector<TrafficCall>& calls) {
  std::vector<CollectiveOp> out;
  for (const CollectiveRow& row : kCollectives) {
    if (std::any_of(calls.begin(), calls.end(),
                    [&](const TrafficCall& call) { return call.call.op == row.op; })) {
      out.push_back(row.op);
    }
  }
  return out;
}

std::vector<TrafficCall> of_operation(const std::vector<TrafficCall>& calls, CollectiveOp op) {
  std::vector<TrafficCall> out;
  for (const TrafficCall& call : calls) {
    if (call.call.op == op) out.push_back(call);
  }
  return out;
}

}  // namespace

namespace {

constexpr double kBarHigh = 30, kBarLeft = 190, kBarRight = 580;

struct Bar {
  const TrafficSum* sum;
  std::string_view colour;
};

// Bars from `y` downwards, the longest of them all `most` bytes.
void draw_bars(Svg& svg, double y, const std::vector<Bar>& bars, double most, double whole) {
  const double top = y;
  for (const auto& [sum, colour] : bars) {
    const double length = (kBarRight - kBarLeft) * sum->wire.value() / most;
    svg.text({kBarLeft - 8, y + 17}, sum->name, "text-anchor=\"end\"");
    svg.rect({kBarLeft, y + 5}, std::max(1.0, length), kBarHigh - 12, fill(colour));
    svg.text({kBarLeft + length + 6, y + 17},
             to_text(sum->wire) + ", " + percent_text(sum->wire.value() / whole));
    y += kBarHigh;
  }
  svg.line({kBarLeft, top}, {kBarLeft, y}, kFrame);
}

}  // namespace

std::string plot_volume(const std::vector<TrafficCall>& calls, const std::string& of) {
  const std::vector<TrafficSum> sums = sums_by(calls, group_and_operation_of);
  const std::vector<TrafficSum> modules = sums_by_module(calls);
  constexpr double kTop = 64, kTitle = 40;
  const double middle =
      kTop + kBarHigh * static_cast<double>(std::max<std::size_t>(1, sums.size())) + kTitle;
  const double bottom = middle + kBarHigh * static_cast<double>(modules.size());
  Svg svg(
      720, bottom + 26,
      "Bytes that a rank sends in one step, by group and operation, and by kind of layer: " + of);
  draw_heading(svg, "What a rank sends in one step", of + "; mean of all ranks");
  const double whole = std::max(1.0, sum_of(calls).wire.value());
  double most = sums.empty() ? 1 : std::max(1.0, sums.front().wire.value());
  for (const TrafficSum& sum : modules) most = std::max(most, sum.wire.value());
  std::vector<Bar> bars;
  for (const TrafficSum& sum : sums) {
    const auto first = std::find_if(calls.begin(), calls.end(), [&](const TrafficCall& call) {
      return group_and_operation_of(call) == sum.name;
    });
    bars.push_back({&sum, colour_of(first->call.op)});
  }
  draw_bars(svg, kTop, bars, most, whole);
  if (sums.empty()) svg.text({kBarLeft + 8, kTop + 17}, "nothing is sent");
  if (modules.empty()) return svg.str();
  svg.text({kBarLeft, middle - 8}, "by kind of layer", "font-weight=\"600\"");
  bars.clear();
  for (const TrafficSum& sum : modules) bars.push_back({&sum, kGrey});
  draw_bars(svg, middle, bars, most, whole);
  return svg.str();
}

std::string plot_sizes(const std::vector<TrafficCall>& calls, const std::string& of) {
  constexpr double kTop = 84, kHigh = 120, kGap = 30, kLeft = 60, kRight = 700;
  Svg svg(720, kTop + 3 * kHigh + 2 * kGap + 44,
          "Shares of calls, bytes and time by the size of messages: " + of);
  draw_heading(svg, "Sizes of the messages of one step", of + "; mean of all ranks");
  const std::vector<CollectiveOp> operations = operations_of(calls);
  draw_operations(svg, {kLeft, 66}, operations);
  const std::vector<SizeClass> classes = size_histogram(calls);
  if (classes.empty()) return svg.str();
  const int first = classes.front().power;
  const double width = (kRight - kLeft) / static_cast<double>(classes.size());
  const auto left_of = [&](int power) { return kLeft + width * (power - first); };

  struct Measure {
    const char* name;
    double (*of)(const TrafficSum&);
  };
  constexpr Measure kMeasures[] = {
      {"of calls", [](const TrafficSum& sum) { return sum.calls; }},
      {"of bytes sent", [](const TrafficSum& sum) { return sum.wire.value(); }},
      {"of their time", [](const TrafficSum& sum) { return sum.time.value(); }}};
  double top = kTop;
  for (const Measure& measure : kMeasures) {
    const Scale y = {0, 1, top + kHigh, top};
    for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      svg.line({kLeft, y.at(share)}, {kRight, y.at(share)}, kGround);
      svg.text({kLeft - 5, y.at(share) + 4}, tick_label(100 * share),
               "text-anchor=\"end\" fill=\"#6e7781\"");
    }
    const double whole = measure.of(sum_of(calls));
    std::vector<double> stacked(classes.size(), 0);
    for (const CollectiveOp op : operations) {
      for (const SizeClass& size : size_histogram(of_operation(calls, op))) {
        const double share = whole > 0 ? measure.of(size.sum) / whole : 0;
        double& below = stacked[static_cast<std::size_t>(size.power - first)];
        if (share > 0) {
          svg.rect({left_of(size.power) + 1, y.at(below + share)}, std::max(1.0, width - 2),
                   y.at(below) - y.at(below + share), fill(colour_of(op)));
        }
        below += share;
      }
    }
    svg.rect({kLeft, top}, kRight - kLeft, kHigh, "fill=\"none\" " + std::string(kFrame));
    svg.text_upwards({kLeft - 36, top + kHigh / 2}, std::string("% ") + measure.name);
    top += kHigh + kGap;
  }
  // Sizes at the borders between classes, as many as there is room for.
  const double bottom = top - kGap;
  const int every = std::max(1, static_cast<int>(std::ceil(56 / width)));
  for (int power = first; power <= classes.back().power + 1; ++power) {
    if ((power - first) % every != 0) continue;
    svg.text({left_of(power), bottom + 14}, to_text(Bytes(std::ldexp(1.0, power))),
             "text-anchor=\"middle\" fill=\"#6e7781\"");
  }
  svg.text({(kLeft + kRight) / 2, bottom + 32}, "size of a message, as nccl-tests counts it",
           "text-anchor=\"middle\"");
  return svg.str();
}

}  // namespace headway
