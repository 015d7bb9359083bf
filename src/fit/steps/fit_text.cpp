// The report of a fit of whole steps for a terminal.
#include <cstdio>

#include "base/draw/table.hpp"
#include "fit/steps/fit.hpp"

namespace headway {
namespace {

std::string percent(double share, const char* format = "%.1f") {
  char text[32];
  std::snprintf(text, sizeof text, format, 100 * share);
  return text;
}

}  // namespace

std::string to_text(const StepFit& fit) {
  std::vector<std::vector<std::string>> table = {
      {"entry", "rows", "sources", "time", "mean", "p90", "bias"},
      {"", "", "", "%", "%", "%", "%"}};
  for (const FittedEntry& entry : fit.entries) {
    table.push_back(
        {std::string(kStepSectionNames[static_cast<std::size_t>(entry.section)]) + "." + entry.name,
         std::to_string(entry.rows), std::to_string(entry.sources.size()),
         percent(entry.error.median), percent(entry.error.mean), percent(entry.error.p90),
         percent(entry.error.bias, "%+.1f")});
  }
  char text[128];
  std::snprintf(text, sizeof text, "\n%zu free parameters, loss %.2f -> %.2f in %d evaluations\n",
                fit.parameters, fit.loss_before, fit.loss_after, fit.evaluations);
  return aligned(table) + text;
}

}  // namespace headway
