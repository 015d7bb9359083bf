#include "base/toml_trouble.hpp"

#include <algorithm>

#include "base/document.hpp"

namespace headway {
namespace {

// Walks over the text once, as a TOML lexer does.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // a byte order mark
  }

  std::optional<TomlTrouble> operator()() {
    while (at_ < text_.size() && !trouble_) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string();
        continue;
      }
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') take();
        continue;
      }
      if (is_outside_ascii(c)) {
        report("is not valid TOML: a character outside ASCII stands outside quotes");
      } else if (c == '.') {
        if (++parts_ > kDeepestNesting) report("is nested deeper than 64 levels");
      } else if (c == '\n' || c == '=' || c == ',' || c == '[' || c == ']' || c == '{' ||
                 c == '}') {
        parts_ = 1;
      }
      take();
    }
    return trouble_;
  }

 private:
  static bool is_outside_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  void report(const char* message) {
    if (!trouble_) trouble_ = TomlTrouble{line_, message};
  }

  void take() {
    if (at_ >= text_.size()) return;
    const auto byte = static_cast<unsigned char>(text_[at_]);
    const bool line_end = byte == '\n' || (byte == '\r' && peek(1) == '\n');
    if ((byte < 0x20 && byte != '\t' && !line_end) || byte == 0x7f) {
      report("is not valid TOML: it holds a control character");
    }
    if (byte == '\n') ++line_;
    ++at_;
  }

  void skip_string() {
    const char quote = text_[at_];
    const char block_quote[] = {quote, quote, quote};
    const bool block = starts(std::string_view(block_quote, 3));
    const std::string_view closing(block_quote, block ? 3 : 1);
    at_ += closing.size();
    while (at_ < text_.size() && !starts(closing)) {
      if (text_[at_] == '\n' && !block) return;  // no string of one line; toml++ stops here
      const bool escape = text_[at_] == '\\' && quote == '"';
      take();
      if (!escape) continue;
      if (block) check_after_backslash();
      if (peek() != '\n') take();
    }
    at_ = std::min(at_ + closing.size(), text_.size());
    // A block may end with one or two quotes of its own before the closing three.
    for (int own = 0; block && own < 2 && peek() == quote; ++own) ++at_;
  }

  void check_after_backslash() {
    const std::size_t next = text_.find_first_not_of(" \t\r\n", at_);
    if (next == std::string_view::npos || !is_outside_ascii(text_[next])) return;
    report("has a character outside ASCII after a backslash in a block; write it on one line");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  int parts_ = 1;  // of the dotted key that is being read
  std::optional<TomlTrouble> trouble_;
};

}  // namespace

std::optional<TomlTrouble> find_toml_trouble(std::string_view text) {
  return Walk(text)();
}

}  // namespace headway
