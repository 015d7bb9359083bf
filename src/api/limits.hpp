// limits: settings from a request, their curves on many threads, and what is shown of them.
// Internal to src/api.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/commands.hpp"
#include "api/files.hpp"
#include "limits/closed_forms.hpp"
#include "limits/curve.hpp"
#include "limits/load.hpp"

namespace headway {

/// One setting and its curve.
struct LimitsCurve {
  limits::Setting setting;
  limits::Curve curve;
  limits::ClosedForms published_alpha;  // alpha 0, as the study's headline
  limits::ClosedForms implied_alpha;    // as the setting's laws imply
  std::optional<limits::Run> too_slow;  // the fastest run of the first model that is too slow

  // Against the form of the step that the study published: models whose utilisation or cluster
  // differs, and the largest difference in utilisation, as a share. None where the setting is as
  // published itself.
  std::size_t models_changed = 0;
  double largest_change = 0;
};

struct LimitsReport {
  std::string title;
  std::vector<LimitsCurve> curves;
};

/// What the request asks for, or everything that is wrong with it.
Result<limits::Comparison> limits_settings(const LimitsRequest& request);

/// The curves of all settings, models side by side on `threads` threads; nothing where `progress`
/// stopped them.
std::optional<std::vector<LimitsCurve>> limits_curves(const std::vector<limits::Setting>& settings,
                                                      int threads, const Progress& progress);

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
