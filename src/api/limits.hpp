// limits: settings from a request, and what is shown of their curves.
// Internal to src/api.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/commands.hpp"
#include "limits/load.hpp"
#include "platform/output.hpp"
#include "study/limits/curves.hpp"

namespace headway {

struct LimitsReport {
  std::string title;
  std::vector<LimitsCurve> curves;
};

/// What the request asks for, or everything that is wrong with it.
Result<limits::Comparison> limits_settings(const LimitsRequest& request);

std::string limits_text(const LimitsReport& report);
/// Cells of its table, the head first: a row for each setting.
std::vector<std::vector<std::string>> limits_rows(const LimitsReport& report);
/// What binds, what the formulas say, and what is weak in the model.
std::string limits_explanation(const LimitsReport& report);
std::span<const std::string_view> limits_weak_points();
std::string limits_json(const LimitsReport& report);
std::string limits_csv(const LimitsReport& report);
/// Drawings, in files whose names begin with `stem`.
std::vector<OutputFile> limits_plots(const LimitsReport& report, const std::string& stem);

/// How long the published comparisons take, as a table.
CommandOutput bench_limits(int threads);

/// "2.05e28".
std::string power_text(double value);

}  // namespace headway
