// The ranks of a step by themselves. Internal to src/api/simulate.
#pragma once

#include "api/commands.hpp"
#include "report/simulate/ranks.hpp"
#include "simulate/timeline/events.hpp"

namespace headway {

/// What was asked of them, or everything that is wrong with it.
Result<RanksQuestion> ranks_asked(const Run& run, const SimulateStepRequest& request);

struct PlacedRanks {
  RanksAnswer answer;
  std::vector<TimelineTrack> tracks;  // of the first seed, where a file of them was asked for
};
/// `alike`: the step where one rank stands for all of a stage.
Result<PlacedRanks> placed_ranks(const Run& run, const SimulatedStep& alike,
                                 const RanksQuestion& asked, const SimulateStepRequest& request);

/// For each file of the timeline that was asked for, where there would be more events than it may
/// have.
Problems too_many_events(std::int64_t events, const SimulateStepRequest& request);

}  // namespace headway
