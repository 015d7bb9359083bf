// Settings of the limits study as a question edits them: relaxed training, several sites.
#pragma once

#include <vector>

#include "study/limits/question.hpp"

namespace headway {

/// The settings, each followed by its edited form where anything is asked for; or all problems,
/// named by flag.
Result<std::vector<limits::Setting>> with_beyond(const std::vector<limits::Setting>& settings,
                                                 const LimitsQuestion& question);

}  // namespace headway
