// The report of a fit of whole steps for a terminal.

#include "base/draw/table.hpp"
#include "base/formatted.hpp"
#include "fit/statistics.hpp"
#include "fit/steps/fit.hpp"

namespace headway {

std::string to_text(const StepFit& fit) {
  std::vector<std::vector<std::string>> table = {
      {"entry", "rows", "sources", "time", "mean", "p90", "bias"},
      {"", "", "", "%", "%", "%", "%"}};
  for (const FittedEntry& entry : fit.entries) {
    table.push_back(
        {std::string(kStepSectionNames[static_cast<std::size_t>(entry.section)]) + "." + entry.name,
         std::to_string(entry.rows), std::to_string(entry.sources.size()),
         in_percent(entry.error.median), in_percent(entry.error.mean), in_percent(entry.error.p90),
         in_percent(entry.error.bias, "%+.1f")});
  }
  const std::string text =
      formatted("\n%zu free parameters, loss %.2f -> %.2f in %d evaluations\n", fit.parameters,
                fit.loss_before, fit.loss_after, fit.evaluations);
  return aligned(table) + text;
}

}  // namespace headway
