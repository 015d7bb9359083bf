// Lists of names for `headway list`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// {"models": ["...", ...]}.
std::string names_json(const std::string& kind, const std::vector<std::string>& names);

/// One line on a built-in model, cluster or accelerator.
std::string description_of(std::string_view kind, const std::string& name);

}  // namespace headway
