#include "api/launch_shell.hpp"

#include <algorithm>
#include <array>

#include "api/launch_shell_words.hpp"
#include "base/text.hpp"

namespace headway {
namespace {

using namespace shell;

constexpr std::array<std::string_view, 14> kKeywords = {"if",   "then",  "elif",     "else", "fi",
                                                        "for",  "while", "until",    "do",   "done",
                                                        "case", "esac",  "function", "!"};
constexpr std::array<std::string_view, 5> kDeclarations = {"export", "declare", "local", "readonly",
                                                           "typeset"};

template <std::size_t N>
bool one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Script : Words {
 public:
  Script(std::string_view text, State& state) : Words(text, 1, 0, state) {}

  ShellScript read() {
    while (!at_end() && fine()) step();
    end_command();
    for (const auto& [name, variable] : state_.variables) {
      if (variable.elements.size() == 1) script_.settings[name] = joined(variable.elements[0]);
    }
    return std::move(script_);
  }

 private:
  void step() {
    const char c = peek();
    if (c == '#') {
      comment();
    } else if (c == '<' || c == '>') {
      redirect();
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      while (next() != '\n') {
      }
    } else if (c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
      end_command();
      next();
    } else if (is_space(c)) {
      next();
    } else if (!assign()) {
      const int line = line_;
      add_words(read_word(), command_);
      // A keyword opens a command of its own.
      if (command_.size() == 1 && one_of(kKeywords, command_[0].text)) {
        if (script_.branch_line == 0) script_.branch_line = line;
        command_.clear();
      }
    }
  }

  void end_command() {
    if (!command_.empty()) script_.commands.push_back(std::move(command_));
    command_.clear();
  }

  void comment() {
    const int line = line_;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view rest = text_.substr(at_, end - at_);
    at_ = end;
    constexpr std::string_view kBatch = "#SBATCH";
    if (!rest.starts_with(kBatch)) return;
    add_words({{std::string(rest.substr(kBatch.size())), line, true}}, script_.batch);
  }

  // Drops the target of a redirection, and the lines of a here-document.
  void redirect() {
    bool here = false;
    while (peek() == '<' || peek() == '>' || peek() == '&') {
      here = here || (peek() == '<' && peek(1) == '<' && peek(2) != '<');
      next();
    }
    if (here && peek() == '-') next();
    while (peek() == ' ' || peek() == '\t') next();
    if (at_end() || peek() == '\n') return;
    const int line = line_;
    const std::string target = joined(read_word());
    if (!here || !fine()) return;
    while (!at_end() && next() != '\n') {
    }
    while (!at_end()) {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      std::string_view body = text_.substr(at_, end - at_);
      while (!body.empty() && is_space(body.front())) body.remove_prefix(1);
      while (!body.empty() && is_space(body.back())) body.remove_suffix(1);
      at_ = end;
      if (!at_end()) next();
      if (body == target) return end_command();
    }
    fail(line, "the here-document '" + printable(target) + "' does not end");
  }

  // NAME=word, NAME+=word, NAME=(words), also behind export and the like.
  bool assign() {
    const bool leads = command_.empty() || one_of(kDeclarations, command_[0].text);
    if (!leads || !is_name_start(peek())) return false;
    std::size_t end = at_;
    while (end < text_.size() && is_name(text_[end])) ++end;
    const std::string name(text_.substr(at_, end - at_));
    const bool more = end < text_.size() && text_[end] == '+';
    if (more) ++end;
    if (end >= text_.size() || text_[end] != '=') return false;
    at_ = end + 1;
    Variable value;
    if (peek() == '(') {
      read_list(value);
    } else {
      const bool none = at_end() || ends_word(peek());
      value.elements.push_back(none ? Pieces{} : read_word());
      for (Piece& piece : value.elements[0]) piece.separates = false;
    }
    Variable& old = state_.variables[name];
    if (!more) {
      old = std::move(value);
    } else if (!value.list && !old.list && old.elements.size() == 1) {
      for (Piece& piece : value.elements[0]) old.elements[0].push_back(std::move(piece));
    } else {
      for (Pieces& element : value.elements) old.elements.push_back(std::move(element));
      old.list = old.list || value.list;
    }
    return true;
  }

  void read_list(Variable& value) {
    const int line = line_;
    value.list = true;
    next();
    ShellCommand words;
    while (fine()) {
      if (at_end()) return fail(line, "the list that begins here does not end");
      const char c = peek();
      if (c == ')') {
        next();
        break;
      }
      if (c == '#') {
        comment();
      } else if (ends_word(c) || (c == '\\' && is_space(peek(1)))) {
        next();
      } else {
        add_words(read_word(), words);
      }
    }
    for (ShellWord& word : words) {
      value.elements.push_back({{std::move(word.text), word.line, false}});
    }
  }

  ShellCommand command_;
  ShellScript script_;
};

}  // namespace

Result<ShellScript> read_shell(std::string_view text, const std::string& file) {
  if (text.size() > kLargestScript) {
    return Problem{file, "is larger than " + std::to_string(kLargestScript >> 20) + " MiB"};
  }
  int line = 1;
  for (const char c : text) {
    if (c == '\n') ++line;
    if (static_cast<unsigned char>(c) < 0x20 && !is_space(c) && c != '\f' && c != '\v') {
      return Problem{file + ":" + std::to_string(line), "is no text: it holds control characters"};
    }
  }
  State state;
  state.file = file;
  ShellScript script = Script(text, state).read();
  if (!state.problems.empty()) return state.problems;
  return script;
}

}  // namespace headway
