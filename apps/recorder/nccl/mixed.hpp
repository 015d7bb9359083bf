// The number by which the members of a communicator know it, of what they all were given.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headway::recorder::nccl {

inline constexpr std::uint32_t kMixedNothing = 2166136261u;

/// [RECORD-4] FNV-1a of 32 bits over bytes, from a state: that of nothing, or of the bytes before.
inline std::uint32_t mixed(std::uint32_t state, const void* bytes, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    state = (state ^ static_cast<const unsigned char*>(bytes)[i]) * 16777619u;
  }
  return state;
}

}  // namespace headway::recorder::nccl
