// The signature of the forecasts: what a change of behaviour changes.
#pragma once

#include <string>

#include "base/result.hpp"

namespace headway {

/// Digest of the forecasts of the fixed cases, 16 hexadecimal digits (DESIGN §4.7).
Result<std::string> signature();

}  // namespace headway
