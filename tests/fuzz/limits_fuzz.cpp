// Settings of the limits study: a .toml from anywhere becomes settings whose models are countable,
// or problems.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "limits/load.hpp"
#include "limits/machine/scaling.hpp"
#include "targets.hpp"

void headway::fuzz::limits(std::string_view text) {
  const auto document = headway::parse_toml(text, "setting.toml");
  if (!document) return;
  const auto comparison = headway::limits::read_comparison(*document, "setting");
  if (!comparison) {
    if (comparison.problems().empty()) std::abort();
    return;
  }
  for (const headway::limits::Setting& setting : comparison->settings) {
    if (setting.machine.levels.empty()) std::abort();
    for (const std::int64_t d_model : headway::limits::widths(setting)) {
      const auto shape = headway::limits::shape_of(setting, d_model);
      const bool counted = shape.layers > 0 && shape.experts > 0 && shape.batch_tokens > 0;
      if (!counted || !std::isfinite(shape.training.value())) std::abort();
    }
  }
}
