// The number by which all ranks of a group know it without speaking of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hash.hpp"

namespace headway::recorder {

/// [RECORD-1] FNV-1a of 32 bits over the world ranks of the group, then over how many groups of
/// these ranks were made before: members make them in one order. 0 stands for no group. Known
/// error: of n groups two share a number with probability n^2 / 2^33, and are told apart by their
/// ranks.
inline std::uint32_t group_number(const int* ranks, std::size_t size, std::uint32_t ordinal) {
  std::uint32_t number = hash(kHashOfNothing<std::uint32_t>, ranks, size * sizeof *ranks);
  number = hash(number, &ordinal, sizeof ordinal);
  return number == 0 ? 1 : number;
}

}  // namespace headway::recorder
