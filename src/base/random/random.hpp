// Random numbers that are the same on every machine, and in whatever order they are asked for where
// they hang on a place.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace headway {

/// A well-mixed number: a step and the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
constexpr std::uint64_t split_mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// SplitMix64: the numbers that follow a seed.
struct SplitMix {
  std::uint64_t state;
  constexpr std::uint64_t next() {
    const std::uint64_t out = split_mixed(state);
    state += 0x9e3779b97f4a7c15U;
    return out;
  }
};

/// Marsaglia's xorshift (2003, shifts 13, 7, 17), of a state that is not 0.
struct XorShift {
  std::uint64_t state;
  constexpr std::uint64_t next() {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    return state;
  }
};
/// Of a seed, with a state that is not 0 for any of the small ones.
constexpr XorShift xor_shift_of(std::uint64_t seed) {
  return {seed * 0x9e3779b97f4a7c15U + 0x2545f4914f6cdd1dU};
}

/// A normal number of mean 0 and deviation 1, of two uniform ones between 0, which the first is
/// not, and 1 (Box and Muller 1958).
inline double normal_of(double u, double v) {
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

}  // namespace headway
