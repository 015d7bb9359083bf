// What makes a serving fit that does not.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "study/infer/serving.hpp"

namespace headway {

/// Flags with what they become: {"tp", "2"}.
struct ServingChange {
  std::vector<std::pair<std::string, std::string>> flags;
  double output_per_second = 0;  // tokens, of one accelerator
};

/// [INFER-23] Of a serving that does not fit: each flag alone that makes it fit, changed as little
/// as does; where none does, pairs of flags. What makes most of an accelerator first; none: nothing
/// does.
std::vector<ServingChange> smallest_changes(const Serving& serving,
                                            const ServingConstants& constants, const Load& load);

}  // namespace headway
