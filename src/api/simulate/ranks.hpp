// The ranks of a step by themselves. Internal to src/api/simulate.
#pragma once

#include "api/commands.hpp"
#include "report/simulate/ranks.hpp"

namespace headway {

/// `alike`: the step where one rank stands for all of a stage.
Result<RanksAnswer> answer_of_ranks(const Run& run, const SimulatedStep& alike,
                                    const SimulateStepRequest& request);

}  // namespace headway
