// Whole numbers in text.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace headway {

/// The whole of `text` as a decimal number; nothing for anything else, an empty text and what 64
/// bits do not hold.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc() || rest != end) return std::nullopt;
  return value;
}

/// A count that is whole but for what sums and means of doubles leave behind (97.99999999999999) as
/// the whole number; any other as it is.
inline double whole_if_near(double count) {
  const double whole = std::round(count);
  return std::abs(count - whole) <= 1e-9 * std::abs(whole) ? whole : count;
}

}  // namespace headway
