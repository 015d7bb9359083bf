// validate: predictions beside measurements.
#pragma once

#include <string>

#include "fit/validation/validation.hpp"

namespace headway {

/// {by, groups: [...], all, aims: [...]}; the fields of a group and of an aim are listed in
/// docs/validation.md. What a group has no rows for is null. With `rows`, also each row: the
/// columns of --rows, empty cells null.
std::string validation_json(const ValidationReport& report, bool rows = false);

}  // namespace headway
