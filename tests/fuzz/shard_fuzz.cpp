// Files of parts: any text becomes a part that is written and read as the same, or problems; and so
// do its lines.
#include <cstdlib>

#include "api/shard/file.hpp"
#include "report/shard/plan.hpp"
#include "targets.hpp"

void headway::fuzz::shard(std::string_view text) {
  const auto file = read_shard_file(text, "part.json");
  if (!file) {
    if (file.problems().empty()) std::abort();
  } else {
    const auto again = read_shard_file(shard_file_text(*file), "again.json");
    if (!again || again->found != file->found || again->arguments != file->arguments) std::abort();
    if (file->shard.of == 1 && !all_parts({{"part.json", *file}})) std::abort();
  }
  // A digest keeps changed files from what is behind it.
  PartLines lines;
  for (const char* name : {"best", "without", "front", "roomy", "changed"}) {
    const std::size_t end = text.find('\n');
    lines[name] = {std::string(text.substr(0, end))};
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  const auto part = read_plan_part(lines);
  if (part && plan_part_lines(*part).size() != lines.size()) std::abort();
  if (!part && part.problems().empty()) std::abort();
}
