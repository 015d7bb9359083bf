#include "base/document/toml_depth.hpp"

#include <algorithm>

#include "base/document/document.hpp"

namespace headway {
namespace {

// Walks over the text once, as a TOML lexer does.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  std::optional<int> operator()() {
    int parts = 1;  // of the dotted key that is being read
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string();
        continue;
      }
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      if (c == '.') {
        if (++parts > kDeepestNesting) {
          return 1 + static_cast<int>(std::count(text_.begin(), text_.begin() + at_, '\n'));
        }
      } else if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) {
        parts = 1;
      }
      ++at_;
    }
    return std::nullopt;
  }

 private:
  void skip_string() {
    const char quote = text_[at_];
    const char block_quote[] = {quote, quote, quote};
    const bool block = text_.substr(at_).starts_with(std::string_view(block_quote, 3));
    const std::string_view closing(block_quote, block ? 3 : 1);
    at_ += closing.size();
    while (at_ < text_.size() && !text_.substr(at_).starts_with(closing)) {
      if (text_[at_] == '\n' && !block) return;  // no string of one line; toml++ stops here
      const bool escape = text_[at_] == '\\' && quote == '"';
      ++at_;
      if (escape && at_ < text_.size() && text_[at_] != '\n') ++at_;
    }
    at_ = std::min(at_ + closing.size(), text_.size());
    // A block may end with one or two quotes of its own before the closing three.
    for (int own = 0; block && own < 2 && at_ < text_.size() && text_[at_] == quote; ++own) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<int> line_of_deep_key(std::string_view ascii) {
  return Walk(ascii)();
}

}  // namespace headway
