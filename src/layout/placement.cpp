#include "layout/placement.hpp"

#include <algorithm>
#include <numeric>

namespace headway {
namespace {

// a / b for b > 0. Sizes of machines fit in 32 bits, where division takes a third of the time.
std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if ((static_cast<std::uint64_t>(a) | static_cast<std::uint64_t>(b)) >> 32 == 0) {
    return static_cast<std::int64_t>(static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b));
  }
  return a / b;
}
bool divides(std::int64_t divisor, std::int64_t number) {
  return quotient(number, divisor) * divisor == number;
}

// The members that every domain of `domain` ranks holds of every group of `ranks` ranks that are
// `stride` apart, as far as that can be promised.
//
// Where stride divides the domain, groups start at multiples of gcd(ranks, domain / stride) members
// within a domain, so each piece of a group has a multiple of that many: exact where one of
// `ranks` and domain / stride divides the other, else the smallest piece. Where stride does not
// divide the domain, a domain holds floor(domain / stride) members or one more; but a group may
// begin with a single member at the end of a domain, so the whole is checked against the most
// domains that a group can touch, and 1 is promised where the count falls short.
std::int64_t members_in(std::int64_t domain, std::int64_t ranks, std::int64_t stride) {
  if (stride >= domain) return 1;
  const std::int64_t places = quotient(domain, stride);
  if (places * stride == domain) {
    if (places >= ranks) {
      if (divides(ranks, places)) return ranks;
    } else if (divides(places, ranks)) {
      return places;
    }
    return std::gcd(ranks, places);
  }
  const std::int64_t members = std::gcd(ranks, places);
  // In floating point, which cannot overflow: the length of the group less its first rank, in
  // domains; one more may be cut at each end.
  const double length = static_cast<double>(ranks - 1) * static_cast<double>(stride);
  const double touched =
      std::min(static_cast<double>(ranks), (length - 1) / static_cast<double>(domain) + 2);
  return static_cast<double>(ranks / members) >= touched ? members : 1;
}

}  // namespace

GroupSpan span_of(std::int64_t ranks, std::int64_t stride, std::int64_t total,
                  const Cluster& cluster) {
  ranks = std::max<std::int64_t>(ranks, 1);
  stride = std::max<std::int64_t>(stride, 1);
  total = std::max<std::int64_t>(total, 1);
  GroupSpan span;
  span.ranks = ranks;
  const std::array<std::int64_t, kMostLevels> domains = domains_in_use(cluster, total);
  const int levels = static_cast<int>(std::min<std::size_t>(cluster.levels.size(), kMostLevels));
  // From the outermost level inwards, so that each level can be held to a divisor of the one
  // outside it: a domain cannot hold more of a group than the domain it lies in.
  std::int64_t outside = ranks;
  for (int i = levels - 1; i >= 0; --i) {
    const bool whole_run = i == levels - 1 || total <= domains[i];
    if (!whole_run) {
      const std::int64_t members = members_in(domains[i], ranks, stride);
      outside = divides(members, outside) ? members : std::gcd(members, outside);
    }
    span.members[i] = outside;
    span.sharing[i] = std::min(domains[i], total);
  }
  return span;
}

bool shares_memory(const GroupSpan& span, const Cluster& cluster) {
  const int inner = std::min(memory_levels(cluster), kMostLevels);
  return span.ranks == 1 ||
         (inner > 0 && span.members[static_cast<std::size_t>(inner - 1)] == span.ranks);
}

int crossed_level(const GroupSpan& span, const Cluster& cluster) {
  const int levels = static_cast<int>(std::min<std::size_t>(cluster.levels.size(), kMostLevels));
  for (int i = 0; i < levels; ++i) {
    if (span.members[i] == span.ranks) return i;
  }
  return std::max(levels - 1, 0);
}

}  // namespace headway
