#include "launch/shell/shell.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "launch/shell/branch.hpp"
#include "launch/shell/words.hpp"

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
    if (branches_.unknown_line() > 0) note_branch(branches_.unknown_line());
    if (fine()) here_documents();  // announced on the last line: they do not end
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
      if ((c == '&' || c == '|') && peek(1) == c) branches_.join(c);
      next();
      if (c == '\n') here_documents();
    } else if (is_space(c)) {
      next();
    } else if (!assign()) {
      const int line = line_;
      add_words(read_word(), command_);
      // A keyword opens a command of its own.
      if (command_.size() == 1 && one_of(kKeywords, command_[0].text)) {
        if (!branches_.keyword(command_[0].text, line)) note_branch(line);
        command_.clear();
      }
    }
  }

  void end_command() {
    if (!command_.empty()) {
      branches_.command(command_);
      if (branches_.unknown_line() > 0) note_branch(branches_.unknown_line());
      if (branches_.active() && !is_test(command_)) {
        script_.commands.push_back(std::move(command_));
      }
    }
    command_.clear();
    ++command_number_;
  }

  void note_branch(int line) {
    if (script_.branch_line == 0) script_.branch_line = line;
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

  // Notes where a redirection goes to, and a here-document that begins on the next line.
  void redirect() {
    bool here = false;
    bool output = false;
    while (peek() == '<' || peek() == '>' || peek() == '&') {
      here = here || (peek() == '<' && peek(1) == '<' && peek(2) != '<');
      output = peek() == '>';  // and not ">&2"
      next();
    }
    const bool strips = here && peek() == '-';
    if (strips) next();
    while (peek() == ' ' || peek() == '\t') next();
    if (at_end() || peek() == '\n') return;
    const int line = line_;
    const bool quoted = peek() == '\'' || peek() == '"' || peek() == '\\';
    std::string target = joined(read_word());
    if (here) {
      here_.push_back({std::move(target), command_number_, line, quoted, strips});
    } else if (output) {
      target_ = std::move(target);
      target_command_ = command_number_;
    }
  }

  // The lines of the here-documents that the line just read announces.
  void here_documents() {
    const std::vector<HereDocument> announced = std::exchange(here_, {});
    for (const HereDocument& here : announced) {
      const int first = line_;
      std::string body;
      bool ended = false;
      while (!at_end() && !ended) {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        std::string_view one = text_.substr(at_, end - at_);
        at_ = end;
        if (!at_end()) next();
        std::string_view bare = one;
        while (!bare.empty() && is_space(bare.front())) bare.remove_prefix(1);
        while (!bare.empty() && is_space(bare.back())) bare.remove_suffix(1);
        ended = bare == here.delimiter;
        while (here.strips && one.starts_with('\t')) one.remove_prefix(1);
        if (!ended) body.append(one) += '\n';
      }
      if (!ended) {
        return fail(here.line,
                    "the here-document '" + printable(here.delimiter) + "' does not end");
      }
      if (target_.empty() || target_command_ != here.command || !branches_.active()) continue;
      if (!here.quoted) body = here_text(body, first);
      if (!fine()) return;
      script_.files.push_back({target_, std::move(body), first});
    }
    target_.clear();
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
    if (!branches_.active()) return true;
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

  // A here-document whose lines are yet to come.
  struct HereDocument {
    std::string delimiter;
    int command = 0;
    int line = 0;
    bool quoted = false;  // variables stand as they are written
    bool strips = false;  // leading tabs go
  };

  ShellCommand command_;
  Branches branches_;
  int command_number_ = 0;
  std::vector<HereDocument> here_;
  std::string target_;  // of the last redirection to a file
  int target_command_ = 0;
  ShellScript script_;
};

}  // namespace

Result<ShellScript> read_shell(std::string_view text, const std::string& file) {
  if (text.size() > kLargestScript) {
    return Problem{file, "is larger than " + std::to_string(kLargestScript >> 20) + " MiB",
                   Trouble::unreadable};
  }
  int line = 1;
  for (const char c : text) {
    if (c == '\n') ++line;
    if (static_cast<unsigned char>(c) < 0x20 && !is_space(c) && c != '\f' && c != '\v') {
      return Problem{{file, line}, "is no text: it holds control characters", Trouble::malformed};
    }
  }
  State state;
  state.file = file;
  ShellScript script = Script(text, state).read();
  if (!state.problems.empty()) return state.problems;
  return script;
}

}  // namespace headway
