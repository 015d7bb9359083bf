// The timeline of a pipeline: a row for each rank.
#include <algorithm>
#include <array>

#include "base/draw/plot.hpp"
#include "report/simulate/pipeline.hpp"

namespace headway {
namespace {

struct Kind {
  std::string_view title, colour;
};
// In the order of SlotWork.
constexpr std::array<Kind, 4> kKinds = {{{"forward", kBlue},
                                         {"both gradients", kVermilion},
                                         {"input gradient", kOrange},
                                         {"weight gradient", kGreen}}};

std::string style(const PlacedSlot& slot, const Pipeline& pipeline) {
  std::string out = fill(kKinds[static_cast<std::size_t>(slot.work)].colour);
  if (slot.chunk % 2 == 1) out += " opacity=\".55\"";  // the next chunk, or the other copy
  return out + (pipeline.ranks <= 64 ? " stroke=\"#fff\" stroke-width=\".5\"" : "");
}

// The unit of a time that reads well.
struct Unit {
  double seconds;
  const char* title;
};
Unit unit_of(Seconds all) {
  if (all.value() < 5e-3) return {1e-6, "time (us)"};
  return all.value() < 5 ? Unit{1e-3, "time (ms)"} : Unit{1, "time (s)"};
}

}  // namespace

std::string simulate_pipeline_svg(const SimulatedPipeline& simulated) {
  const Pipeline& pipeline = simulated.of.pipeline;
  if (3 * pipeline.micro_batches_of_copy() * pipeline.chunks() * pipeline.ranks > kMostDrawnSlots) {
    return {};
  }
  constexpr double kWidth = 960, kLeft = 64, kRight = 944, kTop = 92;
  const double height = pipeline.ranks <= 16 ? 26 : pipeline.ranks <= 48 ? 16 : 8;
  const double bottom = kTop + height * static_cast<double>(pipeline.ranks);
  Svg svg(kWidth, bottom + 48, "The slots of each rank of a pipeline over time");
  draw_heading(svg,
               std::string(kScheduleNames[static_cast<std::size_t>(pipeline.schedule)]) + ", " +
                   std::to_string(pipeline.ranks) + " ranks, " +
                   std::to_string(pipeline.micro_batches) + " micro-batches",
               pipeline.chunks() > 1 ? "Numbers are micro-batches; pale: every second chunk."
                                     : "Numbers are micro-batches.");
  std::vector<LegendEntry> legend;
  const std::vector<PlacedSlot> slots = placed_slots(pipeline, simulated.of.times);
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    const bool has = std::any_of(slots.begin(), slots.end(), [&](const PlacedSlot& slot) {
      return static_cast<std::size_t>(slot.work) == i;
    });
    if (has) legend.push_back({std::string(kKinds[i].title), kKinds[i].colour});
  }
  draw_legend(svg, {kLeft, 72}, legend);
  const Unit unit = unit_of(simulated.makespan);
  const Panel panel = {
      {0, simulated.makespan.value() / unit.seconds, kLeft, kRight}, {0, 1, bottom, kTop}, true};
  draw_panel(svg, panel);
  for (std::int64_t r = 0; r < pipeline.ranks; ++r) {
    const double y = kTop + height * static_cast<double>(r);
    if (height > 8 || r % 8 == 0) {
      svg.text({kLeft - 7, y + height / 2 + 4}, std::to_string(r), "text-anchor=\"end\"");
    }
  }
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const PlacedSlot& slot = slots[i];
    // Of a pair that runs together the forward pass is the upper half.
    const auto together = [&](std::size_t other) {
      return slots[other].rank == slot.rank && slots[other].begin == slot.begin &&
             slots[other].end == slot.end;
    };
    const bool paired = (i > 0 && together(i - 1)) || (i + 1 < slots.size() && together(i + 1));
    const double part = paired ? 0.5 : 1;
    const double above = paired && slot.work != SlotWork::forward ? 0.5 : 0;
    const double y = kTop + height * (static_cast<double>(slot.rank) + 0.06 + 0.88 * above);
    const double left = panel.x.at(slot.begin.value() / unit.seconds);
    const double width = std::max(0.4, panel.x.at(slot.end.value() / unit.seconds) - left);
    svg.rect({left, y}, width, 0.88 * height * part, style(slot, pipeline));
    const std::string number = std::to_string(slot.micro_batch);
    if (height > 20 && !paired && width > 8 * static_cast<double>(number.size()) + 2) {
      svg.text({left + width / 2, y + height / 2 + 2}, number,
               "text-anchor=\"middle\" fill=\"#fff\"");
    }
  }
  draw_axis_titles(svg, panel, unit.title, "");
  return svg.str();
}

}  // namespace headway
