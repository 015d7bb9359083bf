// list: the names that Headway knows, and what stands behind them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "run/run.hpp"

namespace headway {

/// {"models": ["...", ...]}.
std::string names_json(const std::string& kind, const std::vector<std::string>& names);

/// {"clusters": ["...", ...], "cluster_numbers": [{name, title, peak_flop_per_s, ..., levels},
/// ...]}: with the numbers that a cluster of one's own most often has otherwise than its base.
std::string clusters_json();

/// {"machines": ["...", ...], "numbers": [{name, title, stands_for, peak_flop_per_s, ...}, ...]}:
/// the machines of the limits study, with the numbers that a setting in place may change.
std::string machines_json();

/// {"methods": ["...", ...], "method_numbers": [{name, title, what, meeting, fields, usual, ...}]}:
/// methods of training, with what may be stated of each.
std::string methods_json();

/// {"given": {"tp": "8", ...}, "notes": ["...", ...]}: fields of a run, as a text says them; of
/// what it describes itself an object.
std::string given_json(const RunRequest& fields, const std::vector<std::string>& notes);

/// One line on a built-in model, cluster, accelerator or method.
std::string description_of(std::string_view kind, const std::string& name);

}  // namespace headway
