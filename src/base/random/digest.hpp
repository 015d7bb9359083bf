// A number that stands for a text: another text has another one, but for chance. No protection
// against who means to deceive.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/formatted.hpp"

namespace headway {

/// FNV-1a of 64 bits (Fowler, Noll and Vo); `from`: of what stands before the text.
constexpr std::uint64_t digest_of(std::string_view text, std::uint64_t from = 0xcbf29ce484222325U) {
  for (const char c : text) from = (from ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return from;
}

/// As sixteen hexadecimal digits.
inline std::string digest_text(std::uint64_t digest) {
  return formatted("%016llx", static_cast<unsigned long long>(digest));
}
inline std::string digest_text(std::string_view text) {
  return digest_text(digest_of(text));
}

}  // namespace headway
