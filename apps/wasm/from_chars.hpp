// std::from_chars of numbers with a point, which libc++ has from LLVM 20 on: scripts/wasm-libraries
// adds it to <charconv>. As C's strtod() reads them, which rounds to the nearest as the other does.
#pragma once

#include <__charconv/from_chars_result.h>
#include <__system_error/errc.h>
#include <errno.h>
#include <stdlib.h>

#include <__config>
#include <string>

_LIBCPP_BEGIN_NAMESPACE_STD

namespace __headway {

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
inline const char* behind_digits(const char* at, const char* end) {
  while (at != end && is_digit(*at)) ++at;
  return at;
}
// Behind `word` in whatever case, or null.
inline const char* behind_word(const char* at, const char* end, const char* word) {
  for (; *word != '\0'; ++word, ++at) {
    if (at == end || (*at | 0x20) != *word) return nullptr;
  }
  return at;
}
// Where the number that begins at `at`, behind its sign, ends; `at` where there is none.
inline const char* behind_number(const char* at, const char* end) {
  for (const char* word : {"infinity", "inf", "nan"}) {
    if (const char* behind = behind_word(at, end, word)) return behind;
  }
  const char* const whole = behind_digits(at, end);
  const char* behind = whole;
  if (whole != end && *whole == '.') {
    behind = behind_digits(whole + 1, end);
    if (behind == whole + 1 && whole == at) return at;  // a point alone
  } else if (whole == at) {
    return at;
  }
  if (behind == end || (*behind | 0x20) != 'e') return behind;
  const char* power = behind + 1;
  if (power != end && (*power == '-' || *power == '+')) ++power;
  const char* const last = behind_digits(power, end);
  return last == power ? behind : last;
}

}  // namespace __headway

inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const char* const digits = first != last && *first == '-' ? first + 1 : first;
  const char* const behind = __headway::behind_number(digits, last);
  if (behind == digits) return {first, errc::invalid_argument};
  const string text(first, behind);
  const int before = errno;
  errno = 0;
  const double read = ::strtod(text.c_str(), nullptr);
  const bool outside = errno == ERANGE;
  errno = before;
  if (outside) return {behind, errc::result_out_of_range};
  value = read;
  return {behind, errc()};
}

_LIBCPP_END_NAMESPACE_STD
