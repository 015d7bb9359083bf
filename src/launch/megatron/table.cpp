// Arguments in a table of YAML, as Megatron-LM's functional tests and recipes write them:
//   MODEL_ARGS:
//     --num-layers: 12
//     --bf16: true
#include <algorithm>

#include "launch/document.hpp"
#include "launch/megatron/megatron.hpp"

namespace headway::launch {
namespace {

constexpr std::string_view kTable = "MODEL_ARGS";

// "[384 384 97656250]" is several words; a pattern of layers, "[0]*3+[1]*58", is one.
std::vector<ShellWord> words_of(const std::string& text, int line) {
  const bool list = text.starts_with('[') && text.ends_with(']') &&
                    text.find_first_of(",*+") == std::string::npos;
  if (!list) return {{text, line}};
  std::vector<ShellWord> out;
  for (std::size_t at = 1; at < text.size();) {
    const std::size_t end = text.find_first_of(" ]", at);
    if (end > at) out.push_back({text.substr(at, end - at), line});
    at = end + 1;
  }
  return out;
}

}  // namespace

bool is_argument_table(std::string_view text) {
  const std::string line = std::string(kTable) + ":";
  return text.starts_with(line) || text.find("\n" + line) != std::string_view::npos;
}

Result<MegatronArguments> arguments_in_table(std::string_view text, const std::string& file) {
  MegatronArguments out;
  const auto document = parse_yaml(text, file);
  if (!document) return document.problems();
  const Node* table = document->root.find(kTable);
  if (table == nullptr || table->table() == nullptr || table->table()->empty()) {
    return Problem{file, std::string(kTable) + " holds no arguments", Trouble::missing};
  }
  out.file = file;
  out.line = table->line;
  for (const auto& [name, value] : *table->table()) {
    const bool* given = std::get_if<bool>(&value.value);
    if (given != nullptr && !*given) continue;  // a switch that is off
    Argument argument{name, {}, value.line, false};
    std::replace(argument.name.begin(), argument.name.end(), '_', '-');
    argument.name = option_table(Launcher::megatron).today(std::move(argument.name));
    if (given == nullptr) argument.values = words_of(scalar_text(value), value.line);
    out.arguments.push_back(std::move(argument));
  }
  return out;
}

}  // namespace headway::launch
