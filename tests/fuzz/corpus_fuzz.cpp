// Corpora of measured runs: any text becomes rows with a prediction or a reason, or problems.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "fit/validation.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto report = headway::validate(text, "corpus.csv", headway::ValidateBy::source);
  if (!report) {
    if (report.problems().empty()) std::abort();
    return 0;
  }
  for (const headway::ValidationRow& row : report->rows) {
    if (row.predicted() != row.predicted_step_time.has_value()) std::abort();
    if (row.predicted() &&
        !(std::isfinite(*row.predicted_step_time) && *row.predicted_step_time > 0)) {
      std::abort();
    }
  }
  return 0;
}
