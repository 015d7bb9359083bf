#include "launch/shell/words.hpp"

#include <algorithm>
#include <cctype>

namespace headway::shell {
namespace {

// Adds text, to the last piece where that is of the same kind and line.
void add(Pieces& out, std::string_view text, int line, bool separates = false) {
  if (!out.empty() && out.back().line == line && out.back().separates == separates) {
    out.back().text += text;
  } else {
    out.push_back({std::string(text), line, separates});
  }
}

// A sum with a $ before each bare name, which is a variable there.
std::string with_variables(std::string_view sum) {
  std::string out;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const char before = i > 0 ? sum[i - 1] : ' ';
    if (is_name_start(sum[i]) && !is_name(before) && before != '$' && before != '{' &&
        before != '#') {
      out += '$';
    }
    out += sum[i];
  }
  return out;
}

}  // namespace

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_name(char c) {
  return is_name_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool ends_word(char c) {
  return is_space(c) || c == ';' || c == '&' || c == '|' || c == '(' || c == ')' || c == '<' ||
         c == '>';
}

std::string joined(const Pieces& pieces) {
  std::string out;
  for (const Piece& piece : pieces) out += piece.text;
  return out;
}

void add_words(const Pieces& pieces, ShellCommand& into) {
  ShellWord word;
  bool begun = false;
  const auto extend = [&](std::string_view text, int line) {
    if (!begun) word.line = line;
    begun = true;
    word.text += text;
  };
  const auto end = [&] {
    if (begun) into.push_back(std::move(word));
    word = {};
    begun = false;
  };
  for (const Piece& piece : pieces) {
    if (!piece.separates) {
      extend(piece.text, piece.line);
      continue;
    }
    for (const char c : piece.text) {
      if (is_space(c)) {
        end();
      } else {
        extend({&c, 1}, piece.line);
      }
    }
  }
  end();
}

void Words::fail(int line, std::string message) const {
  state_.problems.push_back({{state_.file, line}, std::move(message)});
}

Pieces Words::read_word() {
  Pieces out;
  const std::size_t begin = at_;
  while (!at_end() && fine()) {
    const char c = peek();
    if (c == '\'') {
      quoted(out);
    } else if (c == '"') {
      double_quoted(out);
    } else if (c == '$') {
      expand(out, true);
    } else if (c == '`') {
      backquoted(out);
    } else if (c == '\\') {
      next();
      if (at_end()) break;
      if (peek() == '\n' || peek() == '\r') break;
      const int line = line_;
      const char escaped = next();
      add(out, {&escaped, 1}, line);
    } else if (ends_word(c)) {
      break;
    } else {
      add(out, {&c, 1}, line_);
      next();
    }
  }
  if (at_ == begin && !at_end()) next();
  return out;
}

void Words::quoted(Pieces& out) {
  const int line = line_;
  next();
  add(out, "", line);
  while (!at_end() && peek() != '\'') {
    const int here = line_;
    const char c = next();
    add(out, {&c, 1}, here);
  }
  if (at_end()) return fail(line, "the quotation mark ' has no second one");
  next();
}

void Words::double_quoted(Pieces& out) {
  const int line = line_;
  next();
  add(out, "", line);
  while (!at_end() && peek() != '"' && fine()) {
    if (peek() == '$') {
      expand(out, false);
      continue;
    }
    if (peek() == '`') {
      backquoted(out);
      continue;
    }
    const int here = line_;
    char c = next();
    if (c == '\\' && !at_end()) {
      c = next();
      if (c == '\r' && peek() == '\n') c = next();
      if (c == '\n') continue;
      if (c != '"' && c != '$' && c != '\\' && c != '`') add(out, "\\", here);
    }
    add(out, {&c, 1}, here);
  }
  if (!fine()) return;
  if (at_end()) return fail(line, "the quotation mark \" has no second one");
  next();
}

// What a command would print is not known: it stands as it is written.
void Words::backquoted(Pieces& out) {
  const int line = line_;
  std::string text(1, next());
  while (!at_end() && peek() != '`') text += next();
  if (at_end()) return fail(line, "the quotation mark ` has no second one");
  text += next();
  add(out, text, line);
}

// The text up to the bracket that closes the one at the cursor, without both.
std::string Words::bracketed(char open, char close) {
  const int line = line_;
  next();
  std::string out;
  for (int depth = 1; !at_end();) {
    const char c = next();
    if (c == open) ++depth;
    if (c == close && --depth == 0) return out;
    out += c;
  }
  fail(line, std::string("the bracket ") + open + " is not closed");
  return {};
}

void Words::expand(Pieces& out, bool separates) {
  const int line = line_;
  next();
  if (peek() == '(') {
    const bool sum = peek(1) == '(';
    const std::string inner = bracketed('(', ')');
    long long value = 0;
    if (sum && fine() && shell_sum(expanded(with_variables(inner), line), value)) {
      return add(out, std::to_string(value), line);
    }
    return add(out, "$(" + inner + ")", line);
  }
  if (peek() == '{') return expand_braces(out, separates, line);
  if (peek() == '@' || peek() == '*') return void(next());  // the script's own arguments: none
  if (peek() == '#') {
    next();
    return add(out, "0", line);
  }
  std::string name;
  if (is_name_start(peek())) {
    while (!at_end() && is_name(peek())) name += next();
  } else if (is_name(peek())) {
    name = std::string(1, next());  // $1: an argument of the script
  } else {
    return add(out, "$", line);
  }
  const auto found = state_.variables.find(name);
  if (found != state_.variables.end()) return add_variable(out, found->second, {}, separates);
  add(out, "${" + name + "}", line);
}

// The elements that ${NAME[subscript]} stands for; without a subscript the first.
Words::Elements Words::elements_of(const Variable& variable, std::string_view subscript) {
  const std::size_t count = variable.elements.size();
  if (subscript == "@" || subscript == "*") return {0, count, subscript == "*"};
  long long index = 0;
  if (!subscript.empty() && !shell_sum(subscript, index)) return {0, 0};
  if (index < 0) index += static_cast<long long>(count);
  const bool none = index < 0 || index >= static_cast<long long>(count);
  const auto begin = static_cast<std::size_t>(none ? 0 : index);
  return {begin, none ? begin : begin + 1};
}

// ${NAME}, ${NAME[@]}, ${NAME[2]}, ${#NAME[@]}, ${NAME:-default}; other forms stand as they are
// written.
void Words::expand_braces(Pieces& out, bool separates, int line) {
  const std::string inner = bracketed('{', '}');
  const bool count = inner.starts_with('#');
  std::size_t end = count ? 1 : 0;
  while (end < inner.size() && is_name(inner[end])) ++end;
  const std::string name = inner.substr(count ? 1 : 0, end - (count ? 1 : 0));
  std::string_view rest = std::string_view(inner).substr(end);
  std::string subscript;
  if (const std::size_t close = rest.find(']'); rest.starts_with('[') && close != rest.npos) {
    subscript = expanded(rest.substr(1, close - 1), line);
    rest = rest.substr(close + 1);
  }
  std::size_t operator_size = 0;
  if (rest.starts_with(":-") || rest.starts_with(":=")) operator_size = 2;
  if (rest.starts_with("-") || rest.starts_with("=")) operator_size = 1;
  const auto found = state_.variables.find(name);
  const bool known = found != state_.variables.end();
  if (known && count && rest.empty() && (subscript == "@" || subscript == "*")) {
    return add(out, std::to_string(found->second.elements.size()), line);
  }
  if (known && !count && (rest.empty() || operator_size > 0)) {
    return add_variable(out, found->second, elements_of(found->second, subscript), separates);
  }
  if (operator_size > 0 && !count) {
    return add(out, expanded(rest.substr(operator_size), line), line, separates);
  }
  add(out, "${" + inner + "}", line);
}

// In quotation marks elements are words of their own, unless they are joined; outside, what they
// hold is split, too.
void Words::add_variable(Pieces& out, const Variable& variable, Elements which, bool separates) {
  for (std::size_t i = which.begin; i < std::min(which.end, variable.elements.size()); ++i) {
    if (i > which.begin) out.push_back({" ", line_, separates || !which.joined});
    for (const Piece& piece : variable.elements[i]) {
      state_.expanded += piece.text.size() + 1;
      if (state_.expanded > kLargestExpansion) {
        return fail(line_, "variables expand to more than " +
                               std::to_string(kLargestExpansion >> 20) + " MiB");
      }
      add(out, piece.text, piece.line, separates);
    }
  }
}

std::string Words::here_text(std::string_view text, int line) {
  return expanded(text, line, true);
}

// Text inside an expansion or of a here-document, with its own variables in place. Quotation marks
// of a here-document are text; before $ and ` a backslash goes.
std::string Words::expanded(std::string_view text, int line, bool here_document) {
  if (depth_ >= kDeepestExpansion) {
    fail(line, "is nested deeper than " + std::to_string(kDeepestExpansion) + " expansions");
    return {};
  }
  Words inner(text, line, depth_ + 1, state_);
  Pieces pieces;
  while (!inner.at_end() && fine()) {
    if (inner.peek() == '$') {
      inner.expand(pieces, false);
      continue;
    }
    const char c = inner.next();
    const char then = inner.peek();
    if (here_document && c == '\\' && (then == '$' || then == '`' || then == '\\')) {
      add(pieces, {&then, 1}, line);
      inner.next();
    } else if (here_document || c != '"') {
      add(pieces, {&c, 1}, line);
    }
  }
  return joined(pieces);
}

}  // namespace headway::shell
