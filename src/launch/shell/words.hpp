// Words of a shell script: quotes, line continuations and expansions. Internal to the shell reader.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "launch/shell/shell.hpp"

namespace headway::shell {

/// A stretch of a word on one line. Whitespace in what an unquoted variable held separates words.
struct Piece {
  std::string text;
  int line = 0;
  bool separates = false;
};
using Pieces = std::vector<Piece>;

/// A variable: one text, or the elements of a list.
struct Variable {
  std::vector<Pieces> elements;
  bool list = false;
};

/// What the words of one script share.
struct State {
  std::string file;
  std::map<std::string, Variable> variables;
  std::size_t expanded = 0;  // bytes that variables have expanded to so far
  Problems problems;
};

bool is_name_start(char c);
bool is_name(char c);
bool is_space(char c);
bool ends_word(char c);

std::string joined(const Pieces& pieces);
/// Appends the words of `pieces`, split where unquoted variables held whitespace.
void add_words(const Pieces& pieces, ShellCommand& into);

/// A cursor over text that reads words.
class Words {
 public:
  Words(std::string_view text, int line, int depth, State& state)
      : text_(text), line_(line), depth_(depth), state_(state) {}

  /// The word at the cursor, with its variables in place; at least one character is consumed.
  Pieces read_word();

 protected:
  bool at_end() const { return at_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  char next() {
    const char c = text_[at_++];
    if (c == '\n') ++line_;
    return c;
  }
  bool fine() const { return state_.problems.empty(); }
  void fail(int line, std::string message) const;
  /// The text of a here-document with its variables in place.
  std::string here_text(std::string_view text, int line);

  std::string_view text_;
  std::size_t at_ = 0;
  int line_;
  int depth_;  // of expansions in one another
  State& state_;

 private:
  void quoted(Pieces& out);
  void double_quoted(Pieces& out);
  void backquoted(Pieces& out);
  std::string bracketed(char open, char close);
  void expand(Pieces& out, bool separates);
  void expand_braces(Pieces& out, bool separates, int line);
  /// Which elements of a list an expansion stands for.
  struct Elements {
    std::size_t begin = 0, end = 1;
    bool joined = false;  // one word, in quotation marks, too
  };
  static Elements elements_of(const Variable& variable, std::string_view subscript);
  void add_variable(Pieces& out, const Variable& variable, Elements which, bool separates);
  std::string expanded(std::string_view text, int line, bool here_document = false);
};

}  // namespace headway::shell
