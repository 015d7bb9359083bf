// A layout for each point of a sweep where parts of it were left open.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "study/sweep/sweep.hpp"

namespace headway {

/// How many virtual stages a pipeline may take: those of the run, more than one, any.
enum class VirtualStages : std::uint8_t { given, several, any };

/// What a choice may change.
struct LayoutFreedom {
  bool micro_batch = false;
  bool recompute = false;
  bool reshard = false;  // weights that the run keeps gathered are dropped where nothing fits
  VirtualStages virtual_stages = VirtualStages::given;
};

/// With the degrees as they are, the fastest micro-batch (a power of two), recomputation and
/// virtual stages that fit; where none does, those that take the least memory. Ties: fewer virtual
/// stages, the smaller micro-batch, the lighter recomputation.
LayoutChoice fastest_that_fits(LayoutFreedom free);

/// The fastest of all layouts on as many accelerators, found by the planner; a problem where none
/// fits.
LayoutChoice best_of_all();
/// What it chooses as a line of text, worked out on one machine, and the run of it on another: the
/// same. A problem is of kind malformed where the line is none.
std::string best_line(const RequestedRun& run);
Result<RequestedRun> run_of_best(const RequestedRun& run, std::string_view line);

}  // namespace headway
