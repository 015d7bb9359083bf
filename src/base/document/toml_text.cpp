#include "base/document/toml_text.hpp"

#include <algorithm>

#include "base/formatted.hpp"

namespace headway {

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += formatted("\\u%04x", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

}  // namespace

std::string renewed_table(const std::string& text, const std::string& name,
                          const std::vector<std::pair<std::string, std::string>>& values) {
  std::vector<std::string> lines = lines_of(text);
  const auto head = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return line == "[" + name + "]" || line == "[" + toml_text(name) + "]";
  });
  if (head == lines.end()) return text;
  const auto first = static_cast<std::size_t>(head - lines.begin()) + 1;
  std::size_t last = first;  // behind its last line that is not empty
  for (std::size_t i = first; i < lines.size() && !lines[i].starts_with("["); ++i) {
    if (!lines[i].empty() && !lines[i].starts_with("#")) last = i + 1;
  }
  for (const auto& [key, value] : values) {
    const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = lines.begin() + static_cast<std::ptrdiff_t>(last);
    const auto old =
        std::find_if(begin, end, [&](const std::string& l) { return l.starts_with(key + " = "); });
    if (old != end && value.empty()) {
      lines.erase(old);
      --last;
    } else if (old != end) {
      *old = key + " = " + value;
    } else if (!value.empty()) {
      lines.insert(end, key + " = " + value);
      ++last;
    }
  }
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

}  // namespace headway
