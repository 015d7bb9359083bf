#include "limits/machine/machine.hpp"

#include <algorithm>
#include <vector>

#include "base/divisors.hpp"

namespace headway::limits {
namespace {

std::int64_t largest_divisor(std::int64_t number, std::int64_t most) {
  if (most > 0 && number % most == 0) return most;
  const std::vector<std::int64_t> all = divisors(number);
  const auto above = std::upper_bound(all.begin(), all.end(), most);
  return above == all.begin() ? 1 : *(above - 1);
}

}  // namespace

std::int64_t odd_part_of_sites(const Machine& machine) {
  std::int64_t out = std::max<std::int64_t>(1, machine.sites);
  while (out % 2 == 0) out /= 2;
  return out;
}

// [LIMIT-32] With a number of sites the run is split among them first, and the level inside the
// outermost one is as large as a site.
std::array<std::int64_t, kMostLevels> domains_in_use(const Machine& machine, std::int64_t gpus) {
  std::array<std::int64_t, kMostLevels> out;
  out.fill(1);
  const std::size_t levels = machine.levels.size();
  const bool in_sites = machine.sites > 0 && levels > 1;
  const std::int64_t of_site = in_sites ? gpus / largest_divisor(gpus, machine.sites) : gpus;
  std::int64_t inside = 1;
  for (std::size_t level = 0; level + 1 < levels; ++level) {
    const bool is_site = in_sites && level + 2 == levels;
    out[level] = is_site ? of_site / inside
                         : largest_divisor(of_site / inside, machine.levels[level].size / inside);
    inside *= out[level];
  }
  out[machine.levels.size() - 1] = gpus / inside;
  return out;
}

}  // namespace headway::limits
