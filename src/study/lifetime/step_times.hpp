// Measured step times of a file (--step-noise).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace headway {

/// Step times of the text of a file, separated by blanks, commas or line ends; at least two.
Result<std::vector<double>> step_times(std::string_view text, const std::string& file);

}  // namespace headway
