// The limits study: curves of settings, their models on many threads.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "limits/forms/closed_forms.hpp"
#include "limits/machine/setting.hpp"
#include "limits/search/curve.hpp"
#include "limits/search/smooth.hpp"
#include "platform/parallel.hpp"
#include "study/budget/bill.hpp"

namespace headway {

/// One setting and its curve.
struct LimitsCurve {
  limits::Setting setting;
  limits::Curve curve;
  limits::ClosedForms published_alpha;  // alpha 0, as the study's headline
  limits::ClosedForms implied_alpha;    // as the setting's laws imply
  std::optional<limits::Run> too_slow;  // the fastest run of the first model that is too slow
  // Where latency ends the curve: the fastest run in time of a model as large as that in half the
  // layers, each wider; none where that is too slow as well.
  bool latency_binds = false;
  std::optional<limits::Run> shallower;
  std::optional<Bill> bill;  // of the last run's machine, where its parts have prices
  std::optional<limits::SmoothLimits> smooth;  // where they were asked for

  // Against the form of the step that the study published: models whose utilisation or cluster
  // differs, and the largest difference in utilisation, as a share. None where the setting is as
  // published itself.
  std::size_t models_changed = 0;
  double largest_change = 0;
};

/// The setting with half the layers at each width, and the width at which a model has about the
/// parameters that `d_model` has with all of them.
limits::Setting with_half_the_layers(const limits::Setting& setting);
std::int64_t width_in_half_the_layers(const limits::Setting& setting, std::int64_t d_model);

/// The curves of settings that are shown together.
struct LimitsReport {
  std::string title;
  std::vector<LimitsCurve> curves;
};

/// The curves of all settings, models side by side on `threads` threads; nothing where `progress`
/// stopped them. `smooth`: with the limits that change smoothly.
std::optional<std::vector<LimitsCurve>> limits_curves(const std::vector<limits::Setting>& settings,
                                                      int threads, const Progress& progress,
                                                      bool smooth = false);

}  // namespace headway
