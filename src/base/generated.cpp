#include "base/generated.hpp"

#include <set>
#include <vector>

#include "base/text.hpp"

namespace headway {
namespace {

constexpr std::string_view kBegin = "<!-- generated: ", kClose = " -->", kEnd = "<!-- end -->";

// The line without its end, LF or CRLF.
std::string_view content_of(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

Result<std::string> with_generated(std::string_view document, const std::string& file,
                                   const GeneratedBlocks& blocks) {
  std::vector<std::string> names;
  for (const auto& [name, text] : blocks) names.push_back(name);
  std::string out;
  Problems problems;
  std::set<std::string> seen;
  bool inside = false;
  int number = 0, opened = 0;
  const auto problem = [&](int line, std::string message) {
    problems.push_back({{file, line}, std::move(message)});
  };
  while (!document.empty()) {
    const std::size_t end = document.find('\n');
    const std::string_view line = end == document.npos ? document : document.substr(0, end + 1);
    document.remove_prefix(line.size());
    ++number;
    const std::string_view content = content_of(line);
    if (content.size() >= kBegin.size() + kClose.size() && content.starts_with(kBegin) &&
        content.ends_with(kClose)) {
      const std::string name(
          content.substr(kBegin.size(), content.size() - kBegin.size() - kClose.size()));
      const std::string shown = "'" + printable(name) + "'";
      if (inside)
        problem(opened, "opens a block that is not closed before line " + std::to_string(number));
      if (!seen.insert(name).second) problem(number, "names the block " + shown + " twice");
      const auto block = blocks.find(name);
      if (block == blocks.end()) {
        problem(number,
                "names the block " + shown + ", which nobody writes" + suggestion(name, names));
      } else {
        out += std::string(line) + block->second;
      }
      inside = true;
      opened = number;
    } else if (content == kEnd) {
      if (!inside) problem(number, "closes a block that was not opened");
      inside = false;
      out += line;
    } else if (!inside) {
      out += line;
    }
  }
  if (inside) problem(opened, "opens a block that is never closed");
  for (const std::string& name : names) {
    if (seen.count(name) == 0) {
      problems.push_back({file, "has no block '" + name + "': write the lines '" +
                                    std::string(kBegin) + name + std::string(kClose) + "' and '" +
                                    std::string(kEnd) + "' where it shall stand"});
    }
  }
  if (!problems.empty()) return problems;
  return out;
}

}  // namespace headway
