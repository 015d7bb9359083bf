#include "report/charts/operations.hpp"

#include <array>
#include <string>
#include <vector>

namespace headway {
namespace {

// Of Okabe and Ito's eight, of which base/draw/plot.hpp names four; in the order of kCollectives.
constexpr std::array<std::string_view, kCollectives.size()> kOperationColours = {
    kBlue, "#e69f00", kGreen, kPurple, "#56b4e9", kVermilion};

}  // namespace

std::string_view colour_of(CollectiveOp op) {
  return kOperationColours[static_cast<std::size_t>(op)];
}

std::string_view colour_of(Operation op) {
  const auto called = to_collective(op);
  return called ? colour_of(*called) : kInk;
}

void draw_operations(Svg& svg, Point at, std::span<const CollectiveOp> operations) {
  std::vector<LegendEntry> entries;
  for (const CollectiveOp op : operations) {
    entries.push_back({std::string(to_name(op)), colour_of(op)});
  }
  draw_legend(svg, at, entries);
}

}  // namespace headway
