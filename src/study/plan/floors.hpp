// The floors of a space's cells, worked out once for every search that asks them [PLAN-3].
#pragma once

#include <vector>

#include "platform/parallel.hpp"
#include "study/plan/price.hpp"

namespace headway {

struct FlooredCell {
  PlanCell cell;
  PlanFloor floor;
  mutable CellTimes by_mode{};  // of its own micro-batch, worked out when first asked for
};

/// Neighbours among the cells that share most: of one tuple, order and spread of experts, which a
/// pricer has made ready once.
struct FlooredPlace {
  std::size_t begin, end;
  Seconds least;  // the lowest floor
};

class PlanFloors {
 public:
  /// Of every cell of the space. `progress` may stop it: then it is not complete, and has the cells
  /// that were worked out. `kept`: of other parts of the space.
  PlanFloors(const PlanQuestion& question, int threads, const Progress& progress = {},
             PlanKept* kept = nullptr);

  /// What was lowered on the way, for those who go on.
  const std::shared_ptr<PlanFacts>& facts() const { return facts_; }
  bool complete() const { return complete_; }
  /// Whether they are the question's own, not those of one that is no slower.
  bool are_of(const PlanQuestion& question) const {
    return &question.run == run_ && &question.calibration == calibration_;
  }
  /// Place after place, in each those with the lowest floor first.
  const std::vector<FlooredCell>& cells() const { return cells_; }
  /// In the order in which to look at them: those with the lowest floor first.
  const std::vector<FlooredPlace>& places() const { return places_; }

 private:
  void sort();

  const Run* run_;
  const Calibration* calibration_;
  std::shared_ptr<PlanFacts> facts_;
  std::vector<FlooredCell> cells_;
  std::vector<FlooredPlace> places_;
  bool complete_ = true;
};

}  // namespace headway
