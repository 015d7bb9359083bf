// What a rank keeps of micro-batches whose backward pass is still to come, from its order alone:
// what the closed forms of step/pipeline.cpp are held to. Tests only.
#pragma once

#include <algorithm>
#include <vector>

#include "step/schedule/order.hpp"

namespace headway::testing {

/// When a micro-batch's activations are no longer needed: once its input gradient is there, or, as
/// inputs of the products are, once its weight gradient is.
enum class KeptUntil : std::uint8_t { input_gradient, weight_gradient };

/// What a slot adds to what is kept.
inline double change_in_flight(const Slot& slot, const std::vector<double>& kept, KeptUntil until) {
  const bool ends = slot.work == SlotWork::backward ||
                    slot.work == (until == KeptUntil::weight_gradient ? SlotWork::weight_gradient
                                                                      : SlotWork::input_gradient);
  if (slot.work == SlotWork::forward) return kept[slot.chunk];
  return ends ? -kept[slot.chunk] : 0.0;
}

/// The most that a rank keeps at once, where each micro-batch in a chunk keeps `kept[chunk]`
/// (counts: 1 each). The micro-batch in work is among them.
inline double most_in_flight(const RankOrder& order, const std::vector<double>& kept,
                             KeptUntil until = KeptUntil::weight_gradient) {
  double now = 0, most = 0;
  for (const SlotRun& run : order.runs) {
    double net = 0;
    for (std::size_t i = run.begin; i < run.end; ++i)
      net += change_in_flight(order.slots[i], kept, until);
    // Of a run that only grows the last time is the fullest, of one that only shrinks the first.
    if (net > 0) now += net * static_cast<double>(run.times - 1);
    const double before = now;
    for (std::size_t i = run.begin; i < run.end; ++i) {
      now += change_in_flight(order.slots[i], kept, until);
      most = std::max(most, now);
    }
    if (net <= 0) now = before + net * static_cast<double>(run.times);
  }
  return most;
}

}  // namespace headway::testing
