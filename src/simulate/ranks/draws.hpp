// Random numbers by their place: what a seed, a kind and two numbers draw is the same in whatever
// order it is asked for. Internal to src/simulate/ranks.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace headway {

enum class DrawKind : std::uint64_t { slot, step, sequence, pause, outage };

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(mixed(seed)) {}

  /// Between 0, which it is not, and 1.
  double uniform(DrawKind kind, std::uint64_t a, std::uint64_t b = 0) const {
    return above_zero(hash(kind, a, b));
  }
  /// Of mean 0 and deviation 1 (Box and Muller 1958).
  double normal(DrawKind kind, std::uint64_t a, std::uint64_t b = 0) const {
    const std::uint64_t first = hash(kind, a, b);
    return std::sqrt(-2 * std::log(above_zero(first))) *
           std::cos(2 * std::numbers::pi * above_zero(mixed(first)));
  }

 private:
  // The step and finaliser of SplitMix64 (Steele, Lea and Flood 2014).
  static std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
  }
  std::uint64_t hash(DrawKind kind, std::uint64_t a, std::uint64_t b) const {
    return mixed(mixed(mixed(seed_ ^ static_cast<std::uint64_t>(kind)) ^ a) ^ b);
  }
  static double above_zero(std::uint64_t bits) {
    return (static_cast<double>(bits >> 11U) + 1) * 0x1p-53;
  }

  std::uint64_t seed_;
};

}  // namespace headway
