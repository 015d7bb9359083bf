#include "study/traffic/expected.hpp"

#include <utility>

#include "base/quantity_text.hpp"
#include "cost/calibration/calibration.hpp"
#include "forecast/predict/predict.hpp"

namespace headway {

Result<ExpectedCalls> expected_calls(const RequestedRun& run, std::optional<Bytes> small_below) {
  auto forecast = predict(run);
  if (!forecast) return forecast.problems();
  const auto calibration = calibration_for(run);
  if (!calibration) return calibration.problems();
  ExpectedCalls out{.run = run,
                    .forecast = std::move(forecast).value(),
                    .traffic = {},
                    .textbook = {},
                    .small = {},
                    .notes = {}};
  out.traffic = traffic_of(run, *calibration, small_below);
  out.textbook = textbook_volumes(run, out.traffic);
  out.small =
      small_below ? "below " + to_text(*small_below) : "more than half of their time is latency";
  out.notes = out.forecast.notes;
  for (const std::string& assumption : run.assumptions) {
    out.notes.push_back("assumed: " + assumption);
  }
  return out;
}

}  // namespace headway
