// Whole-number arithmetic of $((...)).
#include <charconv>

#include "launch/shell/shell.hpp"

namespace headway {
namespace {

class Sum {
 public:
  explicit Sum(std::string_view text) : text_(text) {}

  bool read(long long& value) {
    value = sum(0);
    skip();
    return fine_ && at_ == text_.size();
  }

 private:
  static constexpr int kDeepest = 32;  // brackets in brackets

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void keep(bool overflows) { fine_ = fine_ && !overflows; }

  long long sum(int depth) {
    long long value = product(depth);
    while (fine_) {
      if (take('+')) {
        keep(__builtin_add_overflow(value, product(depth), &value));
      } else if (take('-')) {
        keep(__builtin_sub_overflow(value, product(depth), &value));
      } else {
        break;
      }
    }
    return value;
  }

  long long product(int depth) {
    long long value = factor(depth);
    while (fine_) {
      if (take('*')) {
        keep(__builtin_mul_overflow(value, factor(depth), &value));
        continue;
      }
      const bool quotient = take('/');
      if (!quotient && !take('%')) break;
      const long long by = factor(depth);
      if (by <= 0) return fine_ = false, 0;
      value = quotient ? value / by : value % by;
    }
    return value;
  }

  long long factor(int depth) {
    if (depth > kDeepest) return fine_ = false, 0;
    if (take('(')) {
      const long long value = sum(depth + 1);
      keep(!take(')'));
      return value;
    }
    skip();
    long long value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), value);
    keep(status != std::errc());
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool fine_ = true;
};

}  // namespace

bool shell_sum(std::string_view text, long long& value) {
  return Sum(text).read(value);
}

}  // namespace headway
