#include "platform/resident.hpp"

#ifndef __wasm__
#include <sys/resource.h>
#endif

namespace headway {

#ifdef __wasm__
// Memory of WebAssembly grows and never shrinks.
std::uint64_t most_resident_bytes() {
  constexpr std::uint64_t kPage = 65536;
  return __builtin_wasm_memory_size(0) * kPage;
}
#else
std::uint64_t most_resident_bytes() {
  constexpr std::uint64_t kUnit = 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return kUnit * static_cast<std::uint64_t>(usage.ru_maxrss);
}
#endif

}  // namespace headway
