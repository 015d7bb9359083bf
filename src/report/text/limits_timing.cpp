// headway bench limits.

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "report/limits.hpp"

namespace headway {

std::string timing_text(const LimitsTiming& timing) {
  Cells rows = {{"what", "models", "time"}};
  for (const LimitsTiming::Row& row : timing.rows) {
    const std::string time = formatted("%.1f ms", 1e3 * row.median.value());
    rows.push_back({row.what, std::to_string(row.models), time});
  }
  return aligned(rows) + "median of " + std::to_string(timing.repetitions) + " on " +
         std::to_string(timing.threads) + " threads; of sensitivity, the numbers that are varied\n";
}

}  // namespace headway
