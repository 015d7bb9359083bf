// Numbers in text.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

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

/// The whole of `text` as a number; nothing for anything else, and for what is not finite.
inline std::optional<double> real_number(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc() || rest != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// The multiples of `of` next to `given`, which is at least 1 and none of them: the one below,
/// where it is more than 0, and the one above.
inline std::vector<std::int64_t> multiples_near(std::int64_t given, std::int64_t of) {
  const std::int64_t below = given / of * of;
  if (below == 0) return {of};
  return {below, below + of};
}

/// A count that is whole but for what sums and means of doubles leave behind (97.99999999999999) as
/// the whole number; any other as it is.
inline double whole_if_near(double count) {
  const double whole = std::round(count);
  return std::abs(count - whole) <= 1e-9 * std::abs(whole) ? whole : count;
}

}  // namespace headway
