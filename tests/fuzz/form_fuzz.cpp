// Forms with files: any body becomes parts that lie in it, or a problem.
#include <cstdlib>
#include <string_view>

#include "../../apps/server/multipart.hpp"
#include "targets.hpp"

void headway::fuzz::form(std::string_view all) {
  // The first line is the Content-Type.
  const std::size_t line = all.find('\n');
  if (line == std::string_view::npos) return;
  const std::string_view body = all.substr(line + 1);
  const std::string boundary = headway::form_boundary(all.substr(0, line));
  if (boundary.empty()) return;
  const auto parts = headway::form_parts(body, boundary);
  if (!parts) {
    if (parts.problems().empty()) std::abort();
    return;
  }
  for (const headway::FormPart& part : *parts) {
    if (part.content.empty()) continue;
    if (part.content.data() < body.data()) std::abort();
    if (part.content.data() + part.content.size() > body.data() + body.size()) std::abort();
  }
}
