// The floors of a space's cells, worked out once for every search that asks them [PLAN-3].
#pragma once

#include <vector>

#include "platform/parallel.hpp"
#include "study/plan/price.hpp"

namespace headway {

struct FlooredCell {
  PlanCell cell;
  std::uint32_t share = 0;  // which others share most with it
  PlanFloor floor;
  Seconds least;                // the lowest floor of those that share most with it
  mutable CellTimes by_mode{};  // the floor's time and others, worked out when first asked for
};

class PlanFloors {
 public:
  /// Of every cell of the space. `progress` may stop it: then it is not complete, and has the cells
  /// that were worked out. `known`, of the same space, spares the work where the question differs
  /// from its own only in memory.
  PlanFloors(const PlanQuestion& question, int threads, const Progress& progress = {},
             const PlanFloors* known = nullptr);

  bool complete() const { return complete_; }
  /// Whether they are the question's own, not those of one that is no slower.
  bool are_of(const PlanQuestion& question) const {
    return &question.cluster == cluster_ && &question.calibration == calibration_;
  }
  /// In the order in which to look at them: cells of the same tuple, order and spread of experts,
  /// which a pricer has made ready once, stay together; those among which the lowest floor is come
  /// first. The floor of a cell that cannot fit is without time.
  const std::vector<FlooredCell>& cells() const { return cells_; }

 private:
  const Cluster* cluster_;
  const Calibration* calibration_;
  std::vector<FlooredCell> cells_;
  bool complete_ = true;
};

}  // namespace headway
