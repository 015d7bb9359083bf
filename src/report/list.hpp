// list: the names that Headway knows, and what stands behind them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// {"models": ["...", ...]}.
std::string names_json(const std::string& kind, const std::vector<std::string>& names);

/// {"machines": ["...", ...], "numbers": [{name, title, stands_for, peak_flop_per_s, ...}, ...]}:
/// the machines of the limits study, with the numbers that a setting in place may change.
std::string machines_json();

/// One line on a built-in model, cluster or accelerator.
std::string description_of(std::string_view kind, const std::string& name);

}  // namespace headway
