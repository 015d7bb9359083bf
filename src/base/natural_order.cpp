#include "base/natural_order.hpp"

#include <cstddef>

namespace headway {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i;
      ++j;
      continue;
    }
    while (i < a.size() && a[i] == '0') ++i;
    while (j < b.size() && b[j] == '0') ++j;
    const std::size_t first = i, second = j;
    while (i < a.size() && is_digit(a[i])) ++i;
    while (j < b.size() && is_digit(b[j])) ++j;
    if (i - first != j - second) return i - first < j - second;
    const int order = a.substr(first, i - first).compare(b.substr(second, j - second));
    if (order != 0) return order < 0;
  }
  if ((i < a.size()) != (j < b.size())) return j < b.size();
  return a < b;  // they differ in leading zeros, or not at all
}

}  // namespace headway
