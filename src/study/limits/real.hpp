// The question of the limits study beside the same question of real transformers.
#pragma once

#include <vector>

#include "study/limits/question.hpp"
#include "study/limits/transformer_curves.hpp"

namespace headway {

/// Why the question cannot be asked of the settings on the clusters that it names.
Problems real_problems(const LimitsQuestion& question,
                       const std::vector<limits::Setting>& settings);

/// The settings on the cluster of the question, or on those that their machines stand for; or
/// everything that is wrong with them.
Result<std::vector<RealCurve>> real_answers(const LimitsQuestion& question,
                                            const std::vector<limits::Setting>& settings,
                                            int threads, const Progress& progress);

}  // namespace headway
