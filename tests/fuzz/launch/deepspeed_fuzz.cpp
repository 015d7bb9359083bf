#include "checks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return headway::fuzz::check_launch(data, size, headway::Launcher::deepspeed);
}
