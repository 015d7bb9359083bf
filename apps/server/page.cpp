#include "page.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "api/answer.hpp"
#include "base/document/document.hpp"
#include "base/random/digest.hpp"
#include "platform/embedded.hpp"
#include "platform/files.hpp"

namespace headway {
namespace {

constexpr std::size_t kLongestPath = 200;

struct Type {
  std::string_view ending, type;
};
constexpr std::array<Type, 9> kTypes = {{{".html", "text/html; charset=utf-8"},
                                         {".js", "text/javascript; charset=utf-8"},
                                         {".css", "text/css; charset=utf-8"},
                                         {".json", "application/json"},
                                         {".svg", "image/svg+xml"},
                                         {".png", "image/png"},
                                         {".ico", "image/x-icon"},
                                         {".woff2", "font/woff2"},
                                         {".txt", "text/plain; charset=utf-8"}}};

std::string type_of(std::string_view path) {
  for (const Type& each : kTypes) {
    if (path.ends_with(each.ending)) return std::string(each.type);
  }
  return "application/octet-stream";
}

// Letters, digits, '-', '_', '.', and '/' between names that do not begin with '.': what the build
// of the page writes, and nothing that leaves a folder.
bool is_harmless(std::string_view path) {
  if (path.empty() || path.size() > kLongestPath) return false;
  char before = '/';
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    if (!plain && c != '.' && c != '/') return false;
    if (before == '/' && (c == '/' || c == '.')) return false;
    before = c;
  }
  return before != '/';
}

// What stands at "/" in a binary without the page.
std::string list_of_routes() {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta "
      "charset=\"utf-8\"><title>Headway</title></head>"
      "<body>\n<h1>Headway</h1>\n<p>This binary was built without the page. The API is here; "
      "<code>docs/serve.md</code> describes it.</p>\n<ul>\n"
      "<li>GET <a href=\"/api/schema\">/api/schema</a></li>\n";
  for (const std::string& command : answered_names()) {
    out += "<li>POST /api/" + command + "</li>\n";
  }
  return out + "</ul>\n</body></html>\n";
}

PageFile file_of(std::string content, std::string_view path, bool gzipped = false) {
  PageFile out{std::move(content), type_of(path), {}, gzipped};
  out.etag = etag_of(out.content);
  return out;
}

}  // namespace

std::string etag_of(std::string_view text) {
  return '"' + digest_text(text) + '"';
}

std::optional<PageFile> page_file(std::string_view path, const std::string& folder) {
  if (!path.starts_with('/')) return std::nullopt;
  const std::string name(path == "/" ? "index.html" : path.substr(1));
  if (!is_harmless(name)) return std::nullopt;
  if (!folder.empty()) {
    auto text = read_file(folder + "/" + name);
    if (!text) return std::nullopt;
    return file_of(std::move(text).value(), name);
  }
  if (const auto text = embedded_file("web/" + name)) return file_of(std::string(*text), name);
  if (const auto text = embedded_file("web/" + name + ".gz")) {
    return file_of(std::string(*text), name, /*gzipped=*/true);
  }
  if (path == "/") return file_of(list_of_routes(), name);
  return std::nullopt;
}

}  // namespace headway
