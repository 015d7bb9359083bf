// limits beyond the study: relaxed training, several sites, sensitivity. Internal to src/api.
#pragma once

#include <string>
#include <vector>

#include "api/commands.hpp"
#include "api/limits.hpp"
#include "limits/forms/low_communication.hpp"
#include "platform/output.hpp"
#include "study/limits/sensitivities.hpp"

namespace headway {

/// The settings, each followed by its edited form where anything is asked for; or all problems,
/// named by flag.
Result<std::vector<limits::Setting>> with_beyond(const std::vector<limits::Setting>& settings,
                                                 const LimitsRequest& request);

/// What each relaxed setting stands for and what its penalty rests on; empty where none is.
std::string relaxations_text(const std::vector<limits::Setting>& settings);

/// `headway limits --sensitivity`: of each setting, one after the other.
CommandOutput run_limits_sensitivity(const LimitsRequest& request,
                                     const limits::Comparison& comparison);

/// `of` is the setting's curve, whose own ends stand beside the smooth ones.
std::string sensitivity_text(const LimitsCurve& of, const limits::Sensitivities& found);
/// Cells of its table, the head first: a row for each number.
std::vector<std::vector<std::string>> sensitivity_rows(const limits::Setting& setting,
                                                       const limits::Sensitivities& found);
/// Two lines: what moves each limit most.
std::string improvements_text(const limits::Setting& setting, const limits::Sensitivities& found);
/// What limits_json() writes, and in each setting its sensitivity.
std::string sensitivity_json(const std::string& title, const std::vector<LimitsCurve>& curves,
                             const std::vector<limits::Sensitivities>& found);
/// A tornado: each number's reach on both limits.
std::string sensitivity_svg(const limits::Setting& setting, const limits::Sensitivities& found);

}  // namespace headway
