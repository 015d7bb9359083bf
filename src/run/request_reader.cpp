#include "run/request_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/whole_number.hpp"

namespace headway {

RequestReader::RequestReader(const RunRequest& request, Problems& problems,
                             std::span<const RunField> known)
    : request_(request), problems_(problems) {
  for (const GivenField& given : request) {
    const bool is_known = std::any_of(known.begin(), known.end(), [&](const RunField& field) {
      return field.name == given.name;
    });
    if (is_known) continue;
    std::vector<std::string> names;
    for (const RunField& field : known) names.emplace_back(field.name);
    problems_.push_back({given.where, "is not a known field" + suggestion(given.name, names), Trouble::unknown});
  }
}

const GivenField* RequestReader::find(std::string_view name) const {
  for (auto it = request_.rbegin(); it != request_.rend(); ++it) {
    if (it->name == name) return &*it;
  }
  return nullptr;
}

void RequestReader::fail(std::string_view name, std::string message, Trouble kind) {
  const GivenField* given = find(name);
  refused_.emplace_back(name);
  problems_.push_back({given != nullptr ? given->where : FieldName(name), std::move(message), kind});
}

bool RequestReader::refused(std::string_view name) const {
  return std::find(refused_.begin(), refused_.end(), name) != refused_.end();
}

std::optional<std::string> RequestReader::text(std::string_view name, bool required) {
  if (const GivenField* given = find(name)) return given->text;
  if (required) fail(name, "is missing", Trouble::missing);
  return std::nullopt;
}

void RequestReader::count(std::string_view name, std::int64_t& into, std::int64_t least) {
  const GivenField* given = find(name);
  if (given == nullptr) return;
  const auto value = whole_number(given->text);
  if (!value) return fail(name, "'" + printable(given->text) + "' is not a whole number", Trouble::malformed);
  if (*value < least || *value > 1'000'000'000'000) {
    return fail(name, "is " + std::to_string(*value) + "; must be from " + std::to_string(least) +
                          " to 10^12");
  }
  into = *value;
}

void RequestReader::number(std::string_view name, double& into, double least, double most) {
  const GivenField* given = find(name);
  if (given == nullptr) return;
  double value = 0;
  const char* const end = given->text.data() + given->text.size();
  const auto [rest, status] = std::from_chars(given->text.data(), end, value);
  if (status != std::errc() || rest != end || !(value >= least && value <= most)) {
    char range[64];
    std::snprintf(range, sizeof range, "%g to %g", least, most);
    return fail(name, "'" + printable(given->text) + "' is not a number from " + range, Trouble::malformed);
  }
  into = value;
}

bool RequestReader::flag(std::string_view name) {
  const GivenField* given = find(name);
  if (given == nullptr || given->text == "false") return false;
  if (given->text.empty() || given->text == "true") return true;
  fail(name, "'" + printable(given->text) + "' is not true or false", Trouble::malformed);
  return false;
}

void RequestReader::on_off(std::string_view name, Choice& into) {
  constexpr std::array<std::string_view, 3> kNames = {"default", "off", "on"};
  choice(name, kNames, into);
}

}  // namespace headway
