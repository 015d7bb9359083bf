// Where a JSON value ends, found at memory speed without reading what is in it.
#pragma once

#include <cstddef>

namespace headway {

/// Bytes that must be readable behind the end of a text that is scanned or parsed.
constexpr std::size_t kJsonPadding = 64;

/// One past the end of the object or array that begins at `begin` ('{' or '['), or nullptr where it
/// does not end before `end`. kJsonPadding bytes behind `end` must be readable. Brackets in strings
/// do not count; whether brackets of one kind close those of the same kind is not looked at.
const char* end_of_container(const char* begin, const char* end);

/// One past the closing quote of the string that begins at `begin` ('"'), or nullptr.
const char* end_of_string(const char* begin, const char* end);

}  // namespace headway
