// Recognition and unpacking: any bytes, of any form, become a recording that is sound, or a
// problem.
#include "targets.hpp"
#include "trace_checks.hpp"

void headway::fuzz::trace_open(std::string_view text) {
  const auto recording = headway::read_trace_bytes(text, "fuzzed");
  if (recording) {
    headway::check_recording(*recording);
    if (recording->records_read == 0) std::abort();
  } else if (recording.problems().empty()) {
    std::abort();
  }
}
