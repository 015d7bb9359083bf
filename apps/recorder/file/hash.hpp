// Numbers that all who were given the same bytes come to without a word between them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headway::recorder {

/// FNV-1a of no byte, in 32 or 64 bits.
template <class Number>
inline constexpr Number kHashOfNothing = static_cast<Number>(2166136261u);
template <>
inline constexpr std::uint64_t kHashOfNothing<std::uint64_t> = 14695981039346656037u;

/// FNV-1a over bytes, from a state: that of nothing, or of the bytes before.
template <class Number>
Number hash(Number state, const void* bytes, std::size_t size) {
  constexpr Number prime = sizeof(Number) == 8 ? static_cast<Number>(1099511628211u) : 16777619u;
  for (std::size_t i = 0; i < size; ++i) {
    state = (state ^ static_cast<const unsigned char*>(bytes)[i]) * prime;
  }
  return state;
}

}  // namespace headway::recorder
