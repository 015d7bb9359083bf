#include "base/divisors.hpp"

#include <algorithm>

namespace headway {

std::vector<std::int64_t> divisors(std::int64_t number) {
  if (number <= 0) return {};
  std::vector<std::int64_t> out = {1};
  const auto take_out = [&](std::int64_t prime) {
    const std::size_t before = out.size();
    for (std::int64_t power = prime; number % prime == 0; power *= prime) {
      number /= prime;
      for (std::size_t i = 0; i < before; ++i) out.push_back(out[i] * power);
    }
  };
  take_out(2);
  for (std::int64_t prime = 3; prime <= number / prime; prime += 2) {
    if (number % prime == 0) take_out(prime);
  }
  if (number > 1) take_out(number);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace headway
