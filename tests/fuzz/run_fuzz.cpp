// Run files: any text becomes a legal run with a finite forecast, or problems.
#include <cmath>
#include <cstdlib>

#include "base/document/document.hpp"
#include "forecast/predict/predict.hpp"
#include "run/run.hpp"
#include "targets.hpp"

void headway::fuzz::run(std::string_view text) {
  const auto document = headway::parse_toml(text, "run.toml");
  if (!document) return;
  const auto request = headway::run_request_from(document->root, "run.toml");
  if (!request) return;
  const auto run = headway::make_run(*request);
  if (!run) {
    if (run.problems().empty()) std::abort();
    return;
  }
  const auto forecast = headway::predict(*run);
  if (!forecast) return;
  const double seconds = forecast->step_time.value();
  if (!std::isfinite(seconds) || seconds <= 0) std::abort();
  if (!std::isfinite(forecast->memory.total().value())) std::abort();
}
