// A layout for each point of a sweep where parts of it were left open.
#pragma once

#include "study/sweep/sweep.hpp"

namespace headway {

/// What a choice may change.
struct LayoutFreedom {
  bool micro_batch = false;
  bool recompute = false;
};

/// With the degrees as they are, the fastest micro-batch (a power of two) and recomputation that
/// fit; where none does, those that take the least memory. Ties: the smaller micro-batch, the
/// lighter recomputation.
LayoutChoice fastest_that_fits(LayoutFreedom free);

/// The fastest of all layouts on as many accelerators, found by the planner; a problem where none
/// fits.
LayoutChoice best_of_all();

}  // namespace headway
