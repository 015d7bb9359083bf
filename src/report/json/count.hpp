// Counts in documents.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/whole_number.hpp"
#include "report/json/document.hpp"

namespace headway {

/// A count: a whole number where it is one, but for what sums and means of doubles leave behind.
inline Json count_json(double count) {
  const double near = whole_if_near(count);
  const bool whole = near == std::floor(near) && std::abs(near) < 1e15;
  return whole ? Json(static_cast<std::int64_t>(near)) : Json(near);
}

}  // namespace headway
