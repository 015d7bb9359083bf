// The text of data/calibration/step.toml.

#include "base/formatted.hpp"
#include "base/text.hpp"
#include "fit/steps/fit.hpp"

namespace headway {
namespace {

// Four significant digits: more would pretend to know them.
std::string number(double x) {
  return formatted("%.4g", x);
}

std::string value_text(double x) {
  return number(x);
}
std::string value_text(Seconds x) {
  return '"' + number(x.value() * 1e6) + " us\"";
}
std::string value_text(Bytes x) {
  return '"' + number(x.value() / (1024.0 * 1024.0)) + " MiB\"";
}
std::string value_text(BytesPerSecond x) {
  return '"' + number(x.value() * 1e-9) + " GB/s\"";
}

template <class Constants>
std::string constants_text(Constants constants) {
  std::string text;
  for_each_constant(constants, [&](const char* name, const auto& constant, const Bounds&) {
    text += std::string(name) + " = " + value_text(constant) + '\n';
  });
  return text;
}

std::string constants_text(const StepFit& fit, const FittedEntry& entry) {
  switch (entry.section) {
    case StepSection::shared:
      return constants_text(fit.constants.shared);
    case StepSection::framework:
      return constants_text(fit.constants.framework(entry.name));
    case StepSection::architecture:
      return constants_text(fit.constants.architecture(entry.name));
    case StepSection::network:
      return constants_text(fit.constants.network(entry.name));
  }
  return {};
}

}  // namespace

std::string to_toml(const StepFit& fit, const std::string& date) {
  std::string text =
      "# Constants of whole steps (docs/models/forecast.md), fitted on\n"
      "# data/measurements/training.csv by `headway calibrate steps --write`, which writes this "
      "file\n"
      "# anew upon step-estimated.toml. residuals: |predicted/measured - 1| of the step times of "
      "the\n"
      "# rows that an entry has a part in; bias: the median of the signed error, > 0: predicted "
      "too slow.\n";
  for (const FittedEntry& entry : fit.entries) {
    const std::string section(kStepSectionNames[static_cast<std::size_t>(entry.section)]);
    text += "\n[" + section + (entry.section == StepSection::shared ? "" : "." + entry.name) +
            "]\nkind = \"fitted\"\ndate = \"" + date +
            "\"\nsource = \"data/measurements/training.csv: " + join(entry.sources, ", ") + "\"\n" +
            constants_text(fit, entry) + "residuals = { rows = " + std::to_string(entry.rows) +
            ", median = " + number(entry.error.median) + ", p90 = " + number(entry.error.p90) +
            ", bias = " + number(entry.error.bias) + " }\n";
  }
  return text;
}

}  // namespace headway
