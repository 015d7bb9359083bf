// limits beyond the study: relaxed training, several sites, sensitivity. Internal to src/api.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/commands.hpp"
#include "api/files.hpp"
#include "limits/low_communication.hpp"
#include "limits/sensitivity.hpp"

namespace headway {

/// The settings, each followed by its edited form where anything is asked for; or all problems,
/// named by flag.
Result<std::vector<limits::Setting>> with_beyond(const std::vector<limits::Setting>& settings,
                                                 const LimitsRequest& request);

/// What each relaxed setting stands for and what its penalty rests on; empty where none is.
std::string relaxations_text(const std::vector<limits::Setting>& settings);

/// `headway limits --sensitivity`: of each setting, one after the other.
CommandOutput run_limits_sensitivity(const LimitsRequest& request,
                                     const std::vector<limits::Setting>& settings);

/// --sensitivity of one setting, its variants on `threads` threads; nothing where `progress`
/// stopped it.
std::optional<limits::Sensitivities> limits_sensitivity(const limits::Setting& setting, int threads,
                                                        const Progress& progress);
std::string sensitivity_text(const limits::Setting& setting, const limits::Sensitivities& found);
std::string sensitivity_json(const limits::Setting& setting, const limits::Sensitivities& found);
/// A tornado: each number's reach on both limits.
std::string sensitivity_svg(const limits::Setting& setting, const limits::Sensitivities& found);

}  // namespace headway
