// The text of data/calibration/step.toml.

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

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

namespace {

// The text of a file as its head, named "", and its entries by their names, in order.
std::vector<std::pair<std::string, std::string>> entries_of(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> out = {{"", ""}};
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with('[') && line.ends_with(']')) {
      out.emplace_back(line.substr(1, line.size() - 2), "");
    }
    const std::size_t taken = std::min(line.size() + 1, text.size());
    out.back().second += text.substr(0, taken);
    text.remove_prefix(taken);
  }
  // The empty line before an entry is its own.
  for (std::size_t i = 1; i < out.size(); ++i) {
    std::string& earlier = out[i - 1].second;
    if (!earlier.ends_with("\n\n")) continue;
    earlier.pop_back();
    out[i].second.insert(0, "\n");
  }
  return out;
}

}  // namespace

Result<std::string> renewed_entries(std::string_view before, std::string_view fitted,
                                    std::span<const std::string> names) {
  std::map<std::string, std::string> renewed;
  for (auto& [name, text] : entries_of(fitted)) renewed[name] = std::move(text);
  std::map<std::string, bool> wanted;
  for (const std::string& name : names) wanted[name] = false;
  std::string out;
  std::vector<std::string> legal;
  for (const auto& [name, text] : entries_of(before)) {
    const auto asked = wanted.find(name);
    const auto found = renewed.find(name);
    const bool both = !name.empty() && found != renewed.end();
    if (both) legal.push_back(name);
    if (both && asked != wanted.end()) asked->second = true;
    out += both && asked != wanted.end() ? found->second : text;
  }
  Problems problems;
  for (const auto& [name, was_found] : wanted) {
    if (!was_found) problems.push_back({FieldName("entries"), not_known(name, legal)});
  }
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway
