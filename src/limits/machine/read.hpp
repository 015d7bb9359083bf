// What reading machines and reading settings share. Internal to src/limits.
#pragma once

#include <string_view>

#include "base/document/document.hpp"

namespace headway::limits {

/// The field as a number from `least` to `most`; else a problem and `fallback`.
inline double number_between(Fields& fields, std::string_view key, double fallback, double least,
                             double most) {
  const double value = fields.number_or(key, fallback);
  if (value >= least && value <= most) return value;
  const auto shown = [](double bound) {
    std::string text = std::to_string(bound);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
  };
  fields.fail(key, "must be from " + shown(least) + " to " + shown(most));
  return fallback;
}

}  // namespace headway::limits
