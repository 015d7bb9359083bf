#include "limits/machine.hpp"

#include <algorithm>
#include <vector>

#include "limits/divisors.hpp"

namespace headway::limits {
namespace {

std::int64_t largest_divisor(std::int64_t number, std::int64_t most) {
  if (most > 0 && number % most == 0) return most;
  const std::vector<std::int64_t> all = divisors(number);
  const auto above = std::upper_bound(all.begin(), all.end(), most);
  return above == all.begin() ? 1 : *(above - 1);
}

}  // namespace

std::array<std::int64_t, kMostLevels> domains_in_use(const Machine& machine, std::int64_t gpus) {
  std::array<std::int64_t, kMostLevels> out;
  out.fill(1);
  std::int64_t inside = 1;
  for (std::size_t level = 0; level + 1 < machine.levels.size(); ++level) {
    out[level] = largest_divisor(gpus / inside, machine.levels[level].size / inside);
    inside *= out[level];
  }
  out[machine.levels.size() - 1] = gpus / inside;
  return out;
}

}  // namespace headway::limits
