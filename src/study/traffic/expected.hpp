// The expected calls of one run, with what they are set beside.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/run.hpp"
#include "study/traffic/textbook.hpp"
#include "study/traffic/traffic.hpp"

namespace headway {

struct ExpectedCalls {
  Run run;
  Forecast forecast;
  Traffic traffic;
  std::vector<TextbookVolume> textbook;
  std::string small;               // what is called small, in words
  std::vector<std::string> notes;  // for people: what does not fit, what was assumed
};

/// The calls of a legal run. Messages below `small_below` are small; where it is empty, those of
/// which more than half of the time is latency [COMM-4].
Result<ExpectedCalls> expected_calls(const RequestedRun& run,
                                     std::optional<Bytes> small_below = {});

}  // namespace headway
