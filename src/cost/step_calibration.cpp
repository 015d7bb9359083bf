#include "base/document.hpp"
#include "base/embedded.hpp"
#include "cost/calibration.hpp"

namespace headway {

Result<StepParameters> step_parameters() {
  constexpr const char* kFile = "calibration/step.toml";
  const auto text = embedded_file(kFile);
  if (!text) return Problem{kFile, "is missing from the binary"};
  const auto document = parse_toml(*text, kFile);
  if (!document) return document.problems();

  Problems problems;
  Fields fields(*document, problems);
  const auto share = [&](const char* key) {
    Fields entry = fields.table(key, /*required=*/true);
    const double value = entry.number("value");
    if (value < 0 || value > 1) entry.fail("value", "must be from 0 to 1");
    for (const char* said : {"kind", "source", "date"}) entry.text(said);
    entry.reject_unknown();
    return value;
  };
  StepParameters out;
  out.interference = share("interference");
  out.straggling = share("straggling");
  out.compute_power = share("compute-power");
  out.waiting_power = share("waiting-power");
  Fields overhead = fields.table("step-overhead", /*required=*/true);
  out.step_overhead = overhead.quantity<Seconds>("value");
  for (const char* said : {"kind", "source", "date"}) overhead.text(said);
  overhead.reject_unknown();
  fields.reject_unknown();
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway
