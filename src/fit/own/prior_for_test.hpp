// What the tests of src/fit/own take as known of runs. Tests only.
#pragma once

#include "fit/own/shrink.hpp"

namespace headway::testing {

inline constexpr OwnPrior kPrior{.between = 0.15, .within = 0.06, .level = 0.9, .each = 0.1};

}  // namespace headway::testing
