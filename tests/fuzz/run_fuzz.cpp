// Run files: any text becomes a legal run with a finite forecast, or problems.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "api/predict.hpp"
#include "base/document.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = headway::parse_toml(text, "run.toml");
  if (!document) return 0;
  const auto request = headway::run_request_from(document->root, "run.toml");
  if (!request) return 0;
  const auto run = headway::make_run(*request);
  if (!run) {
    if (run.problems().empty()) std::abort();
    return 0;
  }
  const auto forecast = headway::predict(*run);
  if (!forecast) return 0;
  const double seconds = forecast->step_time.value();
  if (!std::isfinite(seconds) || seconds <= 0) std::abort();
  if (!std::isfinite(forecast->memory.total().value())) std::abort();
  return 0;
}
