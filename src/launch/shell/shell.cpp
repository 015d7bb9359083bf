#include "launch/shell/shell.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "launch/shell/branch.hpp"
#include "launch/shell/handed.hpp"
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
  /// `nested`: scripts round this one.
  Script(std::string_view text, int line, int nested, State& state)
      : Words(text, line, 0, state), nested_(nested) {}

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
    } else if (c == '<' && placeholder() > 0) {
      command_.push_back({std::string(text_.substr(at_, placeholder())), line_});
      at_ += placeholder();
    } else if (c == '<' || c == '>') {
      redirect();
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      while (next() != '\n') {
      }
    } else if (c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')') {
      const bool doubled = peek(1) == c;
      if (c == ';' && doubled && !cases_.empty()) return end_arm();
      end_command(c == '|' && !doubled);
      if ((c == '&' || c == '|') && doubled) branches_.join(c);
      next();
      if (c == '\n') here_documents();
    } else if (is_space(c)) {
      next();
    } else if (!assign()) {
      const int line = line_;
      add_words(read_word(), command_);
      // A keyword opens a command of its own.
      if (command_.size() == 1 && one_of(kKeywords, command_[0].text)) {
        const std::string keyword = std::move(command_[0].text);
        command_.clear();
        if (keyword == "case") {
          begin_case();
        } else if (keyword == "esac") {
          end_case();
        } else if (!branches_.keyword(keyword, line)) {
          note_branch(line);
        }
      }
    }
  }

  // case WORD in PATTERN | PATTERN) commands ;; ... esac. Of a word that only the running shell
  // knows every arm is read.
  void begin_case() {
    skip_blanks();
    Case one;
    one.word = joined(read_word());
    one.known = one.word.find_first_of("$`") == std::string::npos;
    skip_blanks();
    joined(read_word());  // in
    cases_.push_back(std::move(one));
    begin_arm();
  }

  void begin_arm() {
    skip_blanks();
    if (text_.substr(at_).starts_with("esac")) return;  // the next word
    const int line = line_;
    if (peek() == '(') next();
    Case& here = cases_.back();
    std::optional<bool> holds = false;
    while (!at_end() && fine()) {
      skip_blanks();
      if (peek() == ')' || peek() == '|') {
        if (next() == ')') break;
        continue;
      }
      const std::string pattern = joined(read_word());
      const bool is_pattern = pattern != "*" && pattern.find_first_of("*?[$`") != pattern.npos;
      if (pattern == "*" || (here.known && pattern == here.word)) {
        holds = here.known || pattern != "*" ? std::optional(true) : std::nullopt;
      } else if (holds && !*holds && (!here.known || is_pattern)) {
        holds = std::nullopt;
      }
    }
    if (here.taken) holds = false;
    here.taken = here.taken || holds.value_or(false);
    here.arm = true;
    branches_.open(holds, line);
  }

  void end_arm() {
    end_command();
    at_ += 2;
    if (cases_.back().arm) branches_.close();
    cases_.back().arm = false;
    begin_arm();
  }

  void end_case() {
    if (cases_.empty()) return;
    if (cases_.back().arm) branches_.close();
    cases_.pop_back();
  }

  // Blanks, comments and ends of lines.
  void skip_blanks() {
    while (!at_end() && (is_space(peek()) || peek() == '#')) {
      if (peek() == '#') {
        comment();
      } else {
        next();
      }
    }
  }

  // `pipes`: what it prints is the next one's input.
  void end_command(bool pipes = false) {
    if (!command_.empty()) {
      branches_.command(command_);
      if (branches_.unknown_line() > 0) note_branch(branches_.unknown_line());
      if (branches_.active() && !is_test(command_)) {
        pipeline_.push_back(command_);
        if (!start(command_)) script_.commands.push_back(command_);
        if (!here_.empty()) handed_[command_number_] = std::move(command_);
      }
    }
    if (!pipes) end_pipeline();
    command_.clear();
    ++command_number_;
  }

  // A file of which a pipeline of sed writes a copy.
  void end_pipeline() {
    const std::vector<ShellCommand> pipeline = std::exchange(pipeline_, {});
    if (target_.empty() || target_command_ != command_number_) return;
    if (auto file = edited_file(pipeline)) {
      file->name = target_;
      script_.files.push_back(std::move(*file));
    }
  }

  // Reads the script that a command hands to another shell; whether it does.
  bool start(const ShellCommand& command) {
    const Handed handed = handed_script(command);
    if (handed.text) return read_nested(*handed.text, command[0].line, handed.before);
    if (handed.file.empty()) return false;
    for (auto it = script_.files.rbegin(); it != script_.files.rend(); ++it) {
      if (it->name == handed.file && it->from.empty()) {
        return read_nested(it->text, it->line, handed.before);
      }
    }
    return false;
  }

  // `before`: words that start the script, of which its commands are. One that cannot be read is
  // left as it is.
  bool read_nested(const std::string& text, int line, const ShellCommand& before) {
    if (nested_ >= kDeepestScript) return false;
    state_.expanded += text.size();
    if (state_.expanded > kLargestExpansion) return false;
    const std::size_t known = state_.problems.size();
    Script inner(text, line, nested_ + 1, state_);
    inner.script_.files = script_.files;
    ShellScript script = inner.read();
    if (state_.problems.size() > known) {
      state_.problems.resize(known);
      return false;
    }
    for (ShellCommand& one : script.commands) {
      one.insert(one.begin(), before.begin(), before.end());
      script_.commands.push_back(std::move(one));
    }
    script_.batch.insert(script_.batch.end(), before.begin(), before.end());
    script_.batch.insert(script_.batch.end(), script.batch.begin(), script.batch.end());
    script_.files = std::move(script.files);
    if (script.branch_line > 0) note_branch(script.branch_line);
    return true;
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

  // The length of a place to fill in, "<PATH TO vocab.json>", and of what follows it without a
  // blank; 0: it is a redirection.
  std::size_t placeholder() const {
    const std::size_t end = text_.find_first_of(">\n<|;&", at_ + 1);
    const bool closed = end != std::string_view::npos && text_[end] == '>';
    const char first = peek(1);
    if (!closed || first < 'A' || first > 'Z' || text_[end - 1] == ' ') return 0;
    const std::size_t stop =
        std::min(text_.find_first_of(" \t\r\n\\;&|<>()'\"", end + 1), text_.size());
    return stop - at_;
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
      if (!branches_.active()) continue;
      if (!here.quoted) body = here_text(body, first);
      if (!fine()) return;
      if (!target_.empty() && target_command_ == here.command) {
        script_.files.push_back({target_, std::move(body), first, {}, {}});
      } else if (const auto reader = reader_of(here.command)) {
        read_nested(body, first, *reader);
      }
    }
    handed_.clear();
    target_.clear();
  }

  // The words that start the shell whose script a here-document is: of the command itself, or of
  // the one that cat hands it to.
  std::optional<ShellCommand> reader_of(int number) const {
    for (const int one : {number, number + 1}) {
      const auto command = handed_.find(one);
      if (command == handed_.end()) return std::nullopt;
      if (const Handed handed = handed_script(command->second); handed.input) return handed.before;
      if (command->second[0].text != "cat") return std::nullopt;
    }
    return std::nullopt;
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

  struct Case {
    std::string word;
    bool known = false;
    bool taken = false;  // an arm, for certain
    bool arm = false;    // one is open
  };

  int nested_;
  ShellCommand command_;
  std::vector<Case> cases_;
  std::vector<ShellCommand> pipeline_;  // that the next command may end
  std::map<int, ShellCommand> handed_;  // commands of this line, by number, from a here-document on
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
  ShellScript script = Script(text, 1, 0, state).read();
  if (!state.problems.empty()) return state.problems;
  return script;
}

}  // namespace headway
