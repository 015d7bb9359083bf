// The limits study: what each number of a setting does to its limits.
#pragma once

#include <cstddef>

#include "limits/search/sensitivity.hpp"
#include "platform/parallel.hpp"
#include "platform/shard.hpp"

namespace headway {

/// What each number of a setting does to its limits, its variants on `threads` threads; a problem
/// where `progress` stopped it.
Result<limits::Sensitivities> limits_sensitivity(const limits::Setting& setting, int threads,
                                                 const Progress& progress);
/// The same of the setting at that place among several, its variants divided: of a part nothing
/// else is worked out, and nothing is in the answer.
Result<limits::Sensitivities> limits_sensitivity(const limits::Setting& setting, std::size_t place,
                                                 const Division& division, int threads,
                                                 const Progress& progress);

}  // namespace headway
