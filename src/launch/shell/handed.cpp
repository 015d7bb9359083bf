#include "launch/shell/handed.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace headway::shell {
namespace {

constexpr std::array kShells = std::to_array<std::string_view>({"bash", "sh", "zsh", "dash"});
constexpr std::array kQueues = std::to_array<std::string_view>({"sbatch", "qsub", "bsub"});

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view word) {
  const std::string_view name = word.substr(word.rfind('/') + 1);  // npos + 1 is 0
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-';
}

// What stands behind the name of a shell: options, then a text or a file.
void read_shell_words(ShellCommand::const_iterator at, ShellCommand::const_iterator end,
                      Handed& out) {
  bool text = false;
  for (; at != end && is_option(at->text); ++at) {
    const bool letters = at->text[1] != '-';
    text = text || (letters && at->text.find('c') != std::string::npos);
  }
  if (at == end) {
    out.input = true;
  } else if (text) {
    out.text = at->text;
  } else {
    out.file = at->text;
  }
}

// A queue's options are the job's; the file is the first word behind them that is no option's.
void read_queue_words(const ShellCommand& command, Handed& out) {
  constexpr std::string_view kWrap = "--wrap";
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i].text;
    if (word == kWrap && i + 1 < command.size()) {
      out.text = command[i + 1].text;
    } else if (word.starts_with(std::string(kWrap) + "=")) {
      out.text = word.substr(kWrap.size() + 1);
    } else if (word.ends_with(".sh") || word.ends_with(".slurm") || word.ends_with(".sbatch")) {
      out.file = word;
      out.before.assign(command.begin() + 1, command.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }
  out.before.assign(command.begin() + 1, command.end());
  out.input = !out.text;
}

// s/WORD/TEXT/ with any sign for the stroke; nothing where WORD is a pattern.
std::optional<std::pair<std::string, std::string>> substitution(std::string_view text) {
  if (text.size() < 4 || text[0] != 's') return std::nullopt;
  const char stroke = text[1];
  const std::size_t middle = text.find(stroke, 2);
  if (middle == std::string_view::npos || middle == 2) return std::nullopt;
  const std::size_t end = text.find(stroke, middle + 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view word = text.substr(2, middle - 2);
  if (word.find_first_of("\\.*[]^$") != std::string_view::npos) return std::nullopt;
  return std::pair(std::string(word), std::string(text.substr(middle + 1, end - middle - 1)));
}

}  // namespace

Handed handed_script(const ShellCommand& command) {
  Handed out;
  if (command.empty()) return out;
  const std::string& first = command[0].text;
  if (first == "eval") {
    out.text.emplace();
    for (std::size_t i = 1; i < command.size(); ++i) *out.text += command[i].text + " ";
    return out;
  }
  if (is_one_of(kQueues, first)) {
    read_queue_words(command, out);
    return out;
  }
  const auto shell = std::find_if(command.begin(), command.end(), [](const ShellWord& word) {
    return is_one_of(kShells, word.text);
  });
  // Not one that only names a shell: "docker run image bash" is one, "which bash" is none.
  if (shell == command.end()) {
    out.file = first;
    return out;
  }
  out.before.assign(command.begin(), shell);
  read_shell_words(shell + 1, command.end(), out);
  return out;
}

std::optional<ShellFile> edited_file(const std::vector<ShellCommand>& pipeline) {
  ShellFile out;
  for (std::size_t i = 0; i < pipeline.size(); ++i) {
    const ShellCommand& command = pipeline[i];
    out.line = pipeline[0][0].line;
    if (command[0].text == "cat" && i == 0 && command.size() == 2) {
      out.from = command[1].text;
      continue;
    }
    if (command[0].text != "sed") return std::nullopt;
    for (std::size_t at = 1; at < command.size(); ++at) {
      const std::string& word = command[at].text;
      if (word == "-e") continue;
      if (is_option(word)) return std::nullopt;
      if (auto replaced = substitution(word)) {
        out.replaced.push_back(std::move(*replaced));
      } else if (i == 0 && out.from.empty()) {
        out.from = word;
      } else {
        return std::nullopt;
      }
    }
  }
  if (out.from.empty()) return std::nullopt;
  return out;
}

}  // namespace headway::shell
