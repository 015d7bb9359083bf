// Random numbers by their place: what a seed, a kind and two numbers draw is the same in whatever
// order it is asked for. Internal to src/simulate/ranks.
#pragma once

#include <cstdint>

#include "base/random/random.hpp"

namespace headway {

enum class DrawKind : std::uint64_t { slot, step, sequence, pause, outage };

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(split_mixed(seed)) {}

  /// Between 0, which it is not, and 1.
  double uniform(DrawKind kind, std::uint64_t a, std::uint64_t b = 0) const {
    return above_zero(hash(kind, a, b));
  }
  /// Of mean 0 and deviation 1.
  double normal(DrawKind kind, std::uint64_t a, std::uint64_t b = 0) const {
    const std::uint64_t first = hash(kind, a, b);
    return normal_of(above_zero(first), above_zero(split_mixed(first)));
  }

 private:
  std::uint64_t hash(DrawKind kind, std::uint64_t a, std::uint64_t b) const {
    return split_mixed(split_mixed(split_mixed(seed_ ^ static_cast<std::uint64_t>(kind)) ^ a) ^ b);
  }
  static double above_zero(std::uint64_t bits) {
    return (static_cast<double>(bits >> 11U) + 1) * 0x1p-53;
  }

  std::uint64_t seed_;
};

}  // namespace headway
