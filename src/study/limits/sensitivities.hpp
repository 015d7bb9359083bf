// The limits study: what each number of a setting does to its limits.
#pragma once

#include <optional>

#include "limits/search/sensitivity.hpp"
#include "platform/parallel.hpp"

namespace headway {

/// What each number of a setting does to its limits, its variants on `threads` threads; nothing
/// where `progress` stopped it.
std::optional<limits::Sensitivities> limits_sensitivity(const limits::Setting& setting, int threads,
                                                        const Progress& progress);

}  // namespace headway
