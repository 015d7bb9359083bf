// The ranks of a step by themselves. Internal to src/api/simulate.
#pragma once

#include "api/commands.hpp"
#include "report/simulate/ranks.hpp"

namespace headway {

/// What was asked of them, or everything that is wrong with it.
Result<RanksQuestion> ranks_asked(const Run& run, const SimulateStepRequest& request);

/// `alike`: the step where one rank stands for all of a stage. On so many threads; 0: all cores.
Result<RanksAnswer> answer_of_ranks(const Run& run, const SimulatedStep& alike,
                                    const RanksQuestion& asked, int threads);

}  // namespace headway
