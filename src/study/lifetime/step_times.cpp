#include "study/lifetime/step_times.hpp"

#include <charconv>

#include "base/text.hpp"

namespace headway {

Result<std::vector<double>> step_times(std::string_view text, const std::string& file) {
  constexpr double kLongest = 1e6;  // s; sums of any number of them stay finite
  std::vector<double> out;
  int line = 1;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    if (*at == '\n') ++line;
    if (*at == ' ' || *at == '\t' || *at == ',' || *at == '\n' || *at == '\r') {
      ++at;
      continue;
    }
    double value = 0;
    const auto [rest, status] = std::from_chars(at, end, value);
    if (status != std::errc() || !(value > 0 && value <= kLongest)) {
      return Problem{
          {printable(file), static_cast<int>(line)},
          "is no list of step times: each must be a number above 0 and at most 10^6 (seconds)"};
    }
    out.push_back(value);
    at = rest;
  }
  if (out.size() < 2) return Problem{printable(file), "holds fewer than two step times"};
  return out;
}

}  // namespace headway
