// As simdjson does it (Langdale & Lemire 2019, "Parsing gigabytes of JSON per second",
// section 3.1), for the one question asked here: 64 bytes at a time become bit masks of the
// characters that matter; which bytes lie in strings follows from the quotes by a running exclusive
// or.
#include "trace/io/json_scan.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace headway {
namespace {

struct Masks {
  std::uint64_t quote = 0, backslash = 0, open = 0, close = 0;
};

#if defined(__SSE2__)
Masks masks_of(const char* block) {
  Masks masks;
  for (int part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 16 * part));
    // '[' | 0x20 == '{' and ']' | 0x20 == '}': one comparison finds both kinds.
    const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    const auto where = [&](__m128i equal) {
      return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(equal)))
             << (16 * part);
    };
    masks.quote |= where(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
    masks.backslash |= where(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    masks.open |= where(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')));
    masks.close |= where(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
  }
  return masks;
}
#else
Masks masks_of(const char* block) {
  Masks masks;
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const char c = block[i];
    if (c == '"') masks.quote |= bit;
    if (c == '\\') masks.backslash |= bit;
    if (c == '{' || c == '[') masks.open |= bit;
    if (c == '}' || c == ']') masks.close |= bit;
  }
  return masks;
}
#endif

// Without the processor's instruction, which not every one has and the library call is slow for.
int bits_in(std::uint64_t mask) {
  mask -= (mask >> 1) & 0x5555555555555555u;
  mask = (mask & 0x3333333333333333u) + ((mask >> 2) & 0x3333333333333333u);
  mask = (mask + (mask >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<int>((mask * 0x0101010101010101u) >> 56);
}

// Bit i of the result: an odd number of bits of `mask` stand at or below i.
std::uint64_t prefix_xor(std::uint64_t mask) {
  for (int shift = 1; shift < 64; shift *= 2) mask ^= mask << shift;
  return mask;
}

// Characters that a backslash before them makes plain. `carry`: the block's first one is.
std::uint64_t escaped_in(std::uint64_t backslash, bool& carry) {
  if (backslash == 0) {
    const std::uint64_t first = carry ? 1 : 0;
    carry = false;
    return first;
  }
  std::uint64_t escaped = 0;
  bool next_is = carry;
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (next_is) {
      escaped |= bit;
      next_is = false;
    } else {
      next_is = (backslash & bit) != 0;
    }
  }
  carry = next_is;
  return escaped;
}

}  // namespace

const char* end_of_container(const char* begin, const char* end) {
  std::int64_t depth = 0;
  bool escape_carry = false;
  std::uint64_t in_string_carry = 0;  // all ones where the block begins inside a string
  for (const char* block = begin; block < end; block += 64) {
    const Masks masks = masks_of(block);
    const std::uint64_t quotes = masks.quote & ~escaped_in(masks.backslash, escape_carry);
    const std::uint64_t in_string = prefix_xor(quotes) ^ in_string_carry;
    in_string_carry = (in_string >> 63) != 0 ? ~std::uint64_t{0} : 0;
    std::uint64_t valid = ~std::uint64_t{0};
    if (end - block < 64) valid >>= 64 - (end - block);
    const std::uint64_t close = masks.close & ~in_string & valid;
    const std::uint64_t open = masks.open & ~in_string & valid;
    // Where too few close for the depth to come to 0, counting is enough.
    if (depth > bits_in(close)) {
      depth += bits_in(open) - bits_in(close);
      continue;
    }
    for (std::uint64_t both = open | close; both != 0; both &= both - 1) {
      const int at = std::countr_zero(both);
      depth += ((open >> at) & 1) != 0 ? 1 : -1;
      if (depth <= 0) return block + at + 1;
    }
  }
  return nullptr;
}

const char* end_of_string(const char* begin, const char* end) {
  for (const char* at = begin + 1; at < end; ++at) {
    if (*at == '\\') {
      ++at;
    } else if (*at == '"') {
      return at + 1;
    }
  }
  return nullptr;
}

}  // namespace headway
