// The passes that take prompts in. Internal to src/study/infer.
#pragma once

#include "study/infer/serving.hpp"

namespace headway {

/// `of_one` passes for each prompt: `each` in the mean, `last` at its end.
struct PromptPasses {
  PassWork each, last;
  double of_one = 1;
};

/// [INFER-6] Of prompts that begin together, `at_once` at most, as many as a step holds; where it
/// does not hold one, and the engine cuts them, one in pieces, of which the one in the middle is
/// the mean.
PromptPasses prompt_passes(const Policy& policy, const Load& load, std::int64_t at_once);

/// [INFER-18] Until so many prompts are through that begin together, with nobody beside them: in a
/// pipeline one pass enters after another. `each`: what a pass takes in the mean.
Seconds time_of_prompts(const Serving& serving, const ServingConstants& constants,
                        const PromptPasses& passes, double prompts, Seconds each);

}  // namespace headway
