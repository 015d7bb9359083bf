// How far each limit moves with each number of the machine and of the scaling laws.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "limits/forms/closed_forms.hpp"
#include "limits/search/smooth.hpp"

namespace headway::limits {

enum class Number {
  peak,
  sustained,
  registers,
  shared_bandwidth,
  l2_bandwidth,
  l2,
  memory_bandwidth,
  memory,
  kernel_latency,
  level_size,
  level_bandwidth,
  level_latency,
  duration,
  tokens_per_parameter,
  batch_tokens,
  batch_exponent,
  layers_coefficient,
  layers_exponent,
  experts,
  experts_exponent,
};

/// One number of a setting.
struct Knob {
  Number number = Number::peak;
  std::size_t level = 0;  // of the level_ numbers
  friend bool operator==(const Knob&, const Knob&) = default;
};

/// What a user would build differently; a law or the duration is none.
bool is_hardware(const Knob& knob);
/// A machine is better with less of it.
bool less_is_better(const Knob& knob);
/// "bandwidth of level fabric".
std::string name_of(const Setting& setting, const Knob& knob);

/// All numbers of the setting that have a value: no law that is not in use, no unlimited bandwidth.
std::vector<Knob> knobs_of(const Setting& setting);
/// In SI units.
double value_of(const Setting& setting, const Knob& knob);
/// The setting with that number times `factor`; nothing where it would mean nothing (a share above
/// 1, a level no larger than the one inside it).
std::optional<Setting> scaled(const Setting& setting, const Knob& knob, double factor);

/// d ln(limit) / d ln(number).
struct Elasticity {
  double linear_scaling = 0, latency = 0;
};
/// Of both closed forms at `alpha`, exact. A law's exponent moves alpha. [LIMIT-24]
Elasticity closed_form_elasticity(const Setting& setting, const Knob& knob, double alpha);

/// The settings that sensitivity needs the smooth limits of: the setting itself first. Each is
/// independent of the others, so callers may compute them on many threads.
struct Variant {
  std::optional<Knob> knob;  // none: the setting itself
  double factor = 1;
  Setting setting;
};
std::vector<Variant> variants_of(const Setting& setting);

/// What one number does.
struct Sensitivity {
  Knob knob;
  double value = 0;
  Elasticity formula;                                        // at the alpha that the laws imply
  std::optional<double> linear_elasticity, wall_elasticity;  // of the curve [LIMIT-25]
  SmoothLimits twice, tenfold;                               // better by that; hardware only
};
struct Sensitivities {
  SmoothLimits base;
  std::vector<Sensitivity> each;  // by the larger of its effects on the curve, largest first
};
Sensitivities sensitivities(const Setting& setting, const std::vector<Variant>& variants,
                            const std::vector<SmoothLimits>& limits);

/// The improvement by a factor of two or ten that moves a limit furthest; nothing where none does.
struct Improvement {
  Knob knob;
  double times = 1;  // the limit, against the base
};
enum class Which { linear_scaling, wall };
std::optional<Improvement> best_improvement(const Sensitivities& all, Which which, bool tenfold);

}  // namespace headway::limits
