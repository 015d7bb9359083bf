// How long a slot takes where kernels do not take what is listed. Internal to src/simulate/ranks.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "simulate/step/slot_program.hpp"

namespace headway {

struct PacedSlot {
  Seconds time;
  Parts parts{};
};

/// Tasks between two points at which all before is done and nothing behind has begun.
struct SlotSection {
  TaskList list;
  double count = 0;  // of sections that are the same
  Seconds time;      // at the usual pace
  Parts parts{};
  Seconds kernels, attention;  // of the work; attention: of that of kernels
  bool is_chain = false;       // no task runs beside another
  std::map<std::pair<double, double>, PacedSlot> known{};
};

/// [SIM-31] A slot is the sum of its sections. Of a chain what kernels take more is added; the
/// tasks of others run again at the pace.
class SlotPace {
 public:
  SlotPace(const SlotProgram& program, double interference);

  PacedSlot at(const TaskPace& pace);
  /// A section, whose place among those that differ is the `i`-th of the order.
  const std::vector<std::size_t>& order() const { return order_; }
  SlotSection& section(std::size_t i) { return sections_[order_[i]]; }
  PacedSlot at(SlotSection& section, const TaskPace& pace) const;
  Seconds kernels() const { return kernels_; }      // of the slot at its usual pace
  Seconds attention() const { return attention_; }  // of those

 private:
  const SlotProgram& program_;
  double interference_;
  Seconds kernels_, attention_;
  std::vector<SlotSection> sections_;  // that differ
  std::vector<std::size_t> order_;
};

}  // namespace headway
