#include "study/lifetime/assumption_reader.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "platform/files.hpp"
#include "study/lifetime/step_times.hpp"

namespace headway {
namespace {

// 15T, 300B, 2e12, 4_000_000 is not read.
std::optional<double> count_of(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc()) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  const double scale = unit.empty()  ? 1
                       : unit == "K" ? 1e3
                       : unit == "M" ? 1e6
                       : unit == "B" ? 1e9
                       : unit == "T" ? 1e12
                                     : 0;
  value *= scale;
  return value >= 1 && value <= 1e18 ? std::optional(value) : std::nullopt;
}

}  // namespace

void AssumptionReader::number(std::string_view name, std::optional<double>& into) {
  if (!reader_.has(name)) return;
  const auto fields = scale_run_fields();
  const auto field = std::find_if(fields.begin(), fields.end(),
                                  [&](const RunField& each) { return each.name == name; });
  into = 0;
  reader_.number(name, *into, field->form.least, field->form.most);
}

void AssumptionReader::count(const std::string& name, double& into) {
  const GivenField* given = reader_.find(name);
  if (given == nullptr) return;
  const auto value = count_of(given->text);
  if (!value) {
    return reader_.fail(name, "'" + printable(given->text) +
                                  "' is not a number from 1 to 10^18, as 15T, 300B or 2e12");
  }
  into = *value;
}

void AssumptionReader::noise(GivenAssumptions& into) {
  const GivenField* given = reader_.find("step-noise");
  if (given == nullptr) return;
  const char* const end = given->text.data() + given->text.size();
  const auto [rest, status] = std::from_chars(given->text.data(), end, into.step_noise);
  if (status == std::errc() && rest == end) {
    if (!(into.step_noise >= 0 && into.step_noise <= 1)) {
      reader_.fail("step-noise", "must be from 0 to 1, or a file of measured step times");
    }
    return;
  }
  const auto text = read_file(given->text);
  auto times = text ? step_times(*text, given->text) : text.problems();
  if (!times) return append(problems_, times.problems());
  into.step_times = std::move(times).value();
}

}  // namespace headway
