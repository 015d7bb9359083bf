#include "step/schedule/in_flight.hpp"

#include <algorithm>

namespace headway {
namespace {

// What a slot adds to what is kept.
double change(const Slot& slot, const std::vector<double>& kept, KeptUntil until) {
  const bool ends = slot.work == SlotWork::backward ||
                    slot.work == (until == KeptUntil::weight_gradient ? SlotWork::weight_gradient
                                                                      : SlotWork::input_gradient);
  if (slot.work == SlotWork::forward) return kept[slot.chunk];
  return ends ? -kept[slot.chunk] : 0.0;
}

}  // namespace

double most_in_flight(const RankOrder& order, const std::vector<double>& kept, KeptUntil until) {
  double now = 0, most = 0;
  for (const SlotRun& run : order.runs) {
    double net = 0;
    for (std::size_t i = run.begin; i < run.end; ++i) net += change(order.slots[i], kept, until);
    // Of a run that only grows the last time is the fullest, of one that only shrinks the first.
    if (net > 0) now += net * static_cast<double>(run.times - 1);
    const double before = now;
    for (std::size_t i = run.begin; i < run.end; ++i) {
      now += change(order.slots[i], kept, until);
      most = std::max(most, now);
    }
    if (net <= 0) now = before + net * static_cast<double>(run.times);
  }
  return most;
}

}  // namespace headway
