#include "base/text.hpp"

#include <algorithm>
#include <numeric>

#include "base/formatted.hpp"

namespace headway {
namespace {

// Levenshtein distance: insertions, deletions and substitutions each cost one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above + 1, row[j - 1] + 1, replaced});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// Whether the text begins with a control character (C0, DEL, C1), which may steer a terminal.
bool begins_with_control(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xa0;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return text.empty() ? 0 : 1;
  if (first >= 0xc2 && first <= 0xdf && follows(1)) return 2;
  if ((first & 0xf0) == 0xe0 && follows(1) && follows(2)) {
    const bool overlong = first == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = first == 0xed && byte(1) >= 0xa0;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xf0 && first <= 0xf4 && follows(1) && follows(2) && follows(3)) {
    const bool overlong = first == 0xf0 && byte(1) < 0x90;
    const bool too_large = first == 0xf4 && byte(1) >= 0x90;
    return overlong || too_large ? 0 : 4;
  }
  return 0;
}

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  if (name.size() > 256) return {};  // no name of ours is near to that, and the cost is quadratic
  const std::string wanted = lower(name);
  const std::string* best = nullptr;
  // A name of which no letter is right is near to nothing.
  std::size_t best_distance =
      std::min(std::max<std::size_t>(2, wanted.size() / 3) + 1, wanted.size());
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(wanted, lower(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = &candidate;
    }
  }
  return best ? *best : std::string();
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates) {
  // "h100" is meant as a word of "dgx-h100" rather than as an error for "p4d".
  std::vector<std::string> parts_of;
  for (const std::string& candidate : candidates) {
    if (("-" + lower(candidate) + "-").find("-" + lower(name) + "-") != std::string::npos) {
      parts_of.push_back("'" + candidate + "'");
    }
  }
  if (!parts_of.empty() && parts_of.size() <= 6) {
    return "; did you mean " + join(parts_of, " or ") + "?";
  }
  const std::string near = nearest(name, candidates);
  if (!near.empty()) return "; did you mean '" + near + "'?";
  if (candidates.empty()) return {};
  return "; known: " + join(candidates, ", ");
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    const std::size_t length = begins_with_control(rest) ? 0 : utf8_length(rest);
    if (at + std::max<std::size_t>(length, 1) > limit) return out + "...";
    if (length > 0) {
      out += text.substr(at, length);
      at += length;
      continue;
    }
    const char c = text[at++];
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += formatted("\\x%02x", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string not_known(std::string_view name, std::span<const std::string> legal) {
  return "'" + printable(name) + "' is not known; legal: " + join(legal, ", ");
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::string plural(std::string_view noun, double count) {
  return std::string(noun) + (count == 1 ? "" : "s");
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::optional<double> years_of(std::string_view date) {
  const auto digits = [&](std::size_t from, std::size_t count) -> std::optional<int> {
    int value = 0;
    for (std::size_t i = from; i < from + count; ++i) {
      if (i >= date.size() || date[i] < '0' || date[i] > '9') return std::nullopt;
      value = value * 10 + (date[i] - '0');
    }
    return value;
  };
  const auto year = digits(0, 4), month = digits(5, 2), day = digits(8, 2);
  if (!year || *year < 2000 || *year > 2100) return std::nullopt;
  if (date.size() == 4) return *year + 0.5;
  if (date[4] != '-' || !month || *month < 1 || *month > 12) return std::nullopt;
  const bool with_day = date.size() == 10 && date[7] == '-' && day && *day >= 1 && *day <= 31;
  if (date.size() != 7 && !with_day) return std::nullopt;
  return *year + (*month - 0.5) / 12;
}

}  // namespace headway
