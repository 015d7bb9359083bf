// The number by which all ranks of a group know it without speaking of it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headway::recorder {

/// [RECORD-1] FNV-1a of 32 bits over the world ranks of the group, then over how many groups of
/// these ranks were made before: members make them in one order. 0 stands for no group. Known
/// error: of n groups two share a number with probability n^2 / 2^33, and are told apart by their
/// ranks.
inline std::uint32_t group_number(const int* ranks, std::size_t size, std::uint32_t ordinal) {
  std::uint32_t hash = 2166136261u;
  const auto add = [&](std::uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) {
      hash = (hash ^ ((value >> shift) & 0xff)) * 16777619u;
    }
  };
  for (std::size_t i = 0; i < size; ++i) add(static_cast<std::uint32_t>(ranks[i]));
  add(ordinal);
  return hash == 0 ? 1 : hash;
}

}  // namespace headway::recorder
