#include "multipart.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace headway {
namespace {

constexpr std::size_t kMostParts = 4097;      // a request and as many files as comms takes
constexpr std::size_t kLongestHeader = 8192;  // of a part, bytes
constexpr std::size_t kLongestBoundary = 70;  // RFC 2046
constexpr std::string_view kEndOfLine = "\r\n";
constexpr std::string_view kEndOfHeader = "\r\n\r\n";

// The value of `key` in "...; key=value; other="quoted \"value\""", or empty.
std::string parameter(std::string_view header, std::string_view key) {
  const std::string all = lower(header);
  std::size_t at = 0;
  while ((at = all.find(std::string(key) + "=", at)) != std::string::npos) {
    const bool begins = at > 0 && (all[at - 1] == ' ' || all[at - 1] == ';');
    at += key.size() + 1;
    if (!begins) continue;
    std::string out;
    if (at < header.size() && header[at] == '"') {
      for (++at; at < header.size() && header[at] != '"'; ++at) {
        if (header[at] == '\\' && at + 1 < header.size()) ++at;
        out += header[at];
      }
    } else {
      for (; at < header.size() && header[at] != ';' && header[at] != ' '; ++at) out += header[at];
    }
    return out;
  }
  return {};
}

FormPart part_of(std::string_view header, std::string_view content) {
  FormPart out{{}, {}, content};
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(kEndOfLine), header.size());
    const std::string_view line = header.substr(0, end);
    if (lower(line.substr(0, 20)).starts_with("content-disposition:")) {
      out.name = parameter(line, "name");
      out.filename = parameter(line, "filename");
    }
    header.remove_prefix(std::min(end + kEndOfLine.size(), header.size()));
  }
  return out;
}

}  // namespace

std::string form_boundary(std::string_view content_type) {
  if (!lower(content_type.substr(0, 19)).starts_with("multipart/form-data")) return {};
  std::string out = parameter(content_type, "boundary");
  const bool legal =
      out.size() <= kLongestBoundary && std::all_of(out.begin(), out.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view("'()+_,-./:=? ").find(static_cast<char>(c)) !=
                   std::string_view::npos;
      });
  return legal ? out : std::string();
}

Result<std::vector<FormPart>> form_parts(std::string_view body, std::string_view boundary) {
  const std::string line = "--" + std::string(boundary);
  const Problem broken{"request", "is no multipart/form-data as its boundary says"};
  std::vector<FormPart> out;
  if (!body.starts_with(line)) return broken;
  std::string_view rest = body.substr(line.size());
  const std::string next = "\r\n" + line;
  while (!rest.starts_with("--")) {
    if (!rest.starts_with(kEndOfLine)) return broken;
    const std::size_t header_end = rest.substr(0, kLongestHeader).find(kEndOfHeader);
    if (header_end == std::string_view::npos) return broken;
    const std::size_t begin = header_end + kEndOfHeader.size();
    const std::size_t end = rest.find(next, header_end + kEndOfLine.size());
    if (end == std::string_view::npos) return broken;
    if (out.size() == kMostParts) return Problem{"request", "has more than 4,097 parts"};
    const std::string_view content = end > begin ? rest.substr(begin, end - begin) : "";
    out.push_back(part_of(rest.substr(0, header_end), content));
    rest.remove_prefix(end + next.size());
  }
  return out;
}

}  // namespace headway
