// The times of steps, of a serving. Internal to src/study/infer.
#pragma once

#include "study/infer/serving.hpp"

namespace headway {

/// [INFER-9] Of prompts of about `input` tokens and answers of `output`.
StepTimes step_times(const Serving& serving, const ServingConstants& constants, std::int64_t input,
                     std::int64_t output);

/// Of the same serving by an engine whose host takes otherwise.
void set_host(StepTimes& steps, const Serving& serving);

}  // namespace headway
