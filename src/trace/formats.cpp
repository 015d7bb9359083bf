#include "trace/formats.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "base/text.hpp"

namespace headway {
namespace {

using enum TraceForm;

const TraceFormat* first_of(std::span<const TraceFormat> formats,
                            std::initializer_list<TraceForm> forms, std::string_view text) {
  for (const TraceFormat& format : formats) {
    const bool asked = std::find(forms.begin(), forms.end(), format.form) != forms.end();
    if (asked && format.recognises(text)) return &format;
  }
  return nullptr;
}

std::string_view without_space(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return at == std::string_view::npos ? std::string_view() : text.substr(at);
}

}  // namespace

const TraceFormat* format_of_line(std::string_view line, std::span<const TraceFormat> formats) {
  return first_of(formats, {log}, line);
}

const TraceFormat* format_of(std::string_view beginning, std::span<const TraceFormat> formats) {
  if (const auto* format = first_of(formats, {sqlite, pickle}, beginning)) return format;
  const std::string_view text = without_space(beginning);
  const bool is_json = text.starts_with('{') || text.starts_with('[');
  if (is_json) {
    if (const auto* format = first_of(formats, {json}, text)) return format;
  }
  for (std::size_t at = 0; at < beginning.size();) {
    const std::size_t end = std::min(beginning.find('\n', at), beginning.size());
    const auto* format = format_of_line(beginning.substr(at, end - at), formats);
    if (format != nullptr) return format;
    at = end + 1;
  }
  if (is_json) return nullptr;
  if (const auto* format = first_of(formats, {protobuf}, beginning)) return format;
  return first_of(formats, {json}, text);  // a piece of JSON whose beginning is missing
}

std::string names_of(std::span<const TraceFormat> formats) {
  std::vector<std::string> names;
  for (const TraceFormat& format : formats) {
    const bool stands = std::find(names.begin(), names.end(), format.shown) != names.end();
    if (!stands) names.emplace_back(format.shown);  // some have two forms
  }
  return join(names, ", ");
}

}  // namespace headway
