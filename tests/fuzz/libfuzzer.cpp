// One target as a program of libFuzzer; the build names it in HEADWAY_FUZZ_TARGET.
#include <cstddef>
#include <cstdint>

#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const headway::fuzz::Target target = *headway::fuzz::target_named(HEADWAY_FUZZ_TARGET);
  target.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
