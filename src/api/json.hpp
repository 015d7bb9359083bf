// JSON documents of the commands besides predict.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fit/validation.hpp"

namespace headway {

/// {"models": ["...", ...]}.
std::string names_json(const std::string& kind, const std::vector<std::string>& names);

/// One line on a built-in model, cluster or accelerator.
std::string description_of(std::string_view kind, const std::string& name);

/// {by, groups: [{name, rows, predicted, skipped, step_time_error, memory_error, fits, ...}], all}.
/// Errors are relative; what a group has no rows for is null.
std::string validation_json(const ValidationReport& report);

}  // namespace headway
