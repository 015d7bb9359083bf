// Any bytes become a recording that is sound, or a problem.
#include "targets.hpp"
#include "trace_checks.hpp"

void headway::fuzz::trace_nsight(std::string_view text) {
  const auto recording = headway::read_nsight_bytes(text);
  if (recording) headway::check_recording(*recording);
  if (!recording && recording.problems().empty()) std::abort();
}
