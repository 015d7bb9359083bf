// Recognition and unpacking: any bytes, of any form, become a recording that is sound, or a
// problem.
#include "trace_checks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto recording = headway::read_trace_bytes(
      std::string_view(reinterpret_cast<const char*>(data), size), "fuzzed");
  if (recording) {
    headway::check_recording(*recording);
    if (recording->records_read == 0) std::abort();
  } else if (recording.problems().empty()) {
    std::abort();
  }
  return 0;
}
