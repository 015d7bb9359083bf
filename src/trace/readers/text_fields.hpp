// Numbers and words in a line of a log.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include "trace/io/line_reader.hpp"
#include "trace/recording/recording.hpp"

namespace headway {

/// The whole text as a number, else nothing.
template <class Number>
std::optional<Number> to_number(std::string_view text, int base = 10) {
  Number number{};
  const char* end = text.data() + text.size();
  std::from_chars_result read{};
  if constexpr (std::is_floating_point_v<Number>) {
    read = std::from_chars(text.data(), end, number);
    if (!std::isfinite(number)) return std::nullopt;
  } else {
    read = std::from_chars(text.data(), end, number, base);
  }
  if (read.ec != std::errc() || read.ptr != end || text.empty()) return std::nullopt;
  return number;
}

/// The words between white space.
inline std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view space = " \t\r";
  for (std::size_t at = line.find_first_not_of(space); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(space, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(space, end);
  }
  return words;
}

/// The word behind `key` in `line`; empty where there is none.
inline std::string_view word_after(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + key.size());
  const std::size_t start = line.find_first_not_of(' ');
  if (start == std::string_view::npos) return {};
  line.remove_prefix(start);
  return line.substr(0, line.find_first_of(" \t\r"));
}

/// Notes what a reader of lines could not read.
inline void note_damage(const LineReader& lines, Recording& recording) {
  omit(recording, "lines of more than 1 MiB", lines.cut_lines());
  if (!lines.damage().empty()) omit(recording, lines.damage());
}

}  // namespace headway
