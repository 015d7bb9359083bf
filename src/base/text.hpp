// Small helpers on text.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// The candidate with the smallest edit distance to `name`; empty where none is near (a distance
/// of more than a third of the name's length, at least 2, or of the whole name) or there is none.
std::string nearest(std::string_view name, std::span<const std::string> candidates);

/// "; did you mean 'X'?" for up to six candidates of which the name is a word (between dashes),
/// else for the nearest one; "; known: a, b, c" where none is near.
std::string suggestion(std::string_view name, std::span<const std::string> candidates);

/// The bytes of the UTF-8 character that `text` begins with; 0 where it begins with none.
std::size_t utf8_length(std::string_view text);

/// The text with control characters and bytes that are no UTF-8 made visible (\n, \t, \xNN), cut
/// between characters to at most `limit` of its bytes, so that hostile input cannot disturb a
/// terminal or a JSON document when it is quoted in a message.
std::string printable(std::string_view text, std::size_t limit = 80);

/// "'X' is not known; legal: a, b": of a name that stands for nothing among these.
std::string not_known(std::string_view name, std::span<const std::string> legal);

std::string join(std::span<const std::string> parts, std::string_view separator);

/// The noun, of one or of several: "client", "clients".
std::string plural(std::string_view noun, double count);

/// ASCII lower case.
std::string lower(std::string_view text);

/// A date, "2025", "2025-07" or "2025-07-31", in years to the middle of its month (of the year
/// where it has none); nothing for anything else and before 2000 or after 2100.
std::optional<double> years_of(std::string_view date);

}  // namespace headway
