#include "limits/machine/sites.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/text.hpp"

namespace headway::limits {

// [LIMIT-33] t = 3 d / (2 c): light in glass (refractive index 1.5). No switch, no detour: a lower
// bound for a real route.
Seconds latency_of_distance(double metres) {
  constexpr double kSpeedOfLight = 299'792'458;  // m/s
  return Seconds(1.5 * metres / kSpeedOfLight);
}

namespace {

bool are_unlike(const Sites& sites) {
  const auto differ = [](const auto& values) {
    return std::any_of(values.begin(), values.end(),
                       [&](const auto& each) { return each != values.front(); });
  };
  return differ(sites.shares) || differ(sites.bandwidths);
}

Problems unlike_problems(const Sites& sites) {
  Problems out;
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(0, sites.sites));
  for (const std::int64_t share : sites.shares) {
    if (share < 1) out.push_back({FieldName("sites"), "shares must be whole numbers from 1 on"});
    if (share < 1) return out;
  }
  if (!sites.bandwidths.empty() && sites.bandwidths.size() != count) {
    out.push_back({FieldName("site-bandwidth"), "lists " + std::to_string(sites.bandwidths.size()) +
                                                    " sites, and there are " +
                                                    std::to_string(count)});
  }
  for (const BytesPerSecond bandwidth : sites.bandwidths) {
    if (!(bandwidth > BytesPerSecond())) {
      out.push_back({FieldName("site-bandwidth"), "must be above 0"});
      break;
    }
  }
  std::int64_t common = 0;
  double all = 0;
  for (const std::int64_t share : sites.shares) {
    common = std::gcd(common, share);
    all += static_cast<double>(share);
  }
  if (common > 0 && all / static_cast<double>(common) > static_cast<double>(kMostShares)) {
    out.push_back(
        {FieldName("sites"), "in smallest whole numbers their shares add up to more than " +
                                 std::to_string(kMostShares) + "; round them, as 3,2,1"});
  }
  return out;
}

// [LIMIT-43] k sites of m_i shares, S in all, each share N/S GPUs. Replicas lie in a share, so that
// gradients alone cross. They are summed in each site, 2 (m - 1)/m of the parameters' bytes P over
// its fabric f, and between sites, of which each sends 2 (k - 1)/k P however large it is: the one
// of the least m_i b_i decides. The level of the study's form that takes as long as the slower of
// both, 2 (S - 1) P / (N B), has this B; of like sites it is b.
Setting in_unlike_sites(const Setting& setting, const Sites& sites) {
  Setting out = setting;
  std::vector<std::int64_t> shares = sites.shares;
  const auto count = static_cast<std::size_t>(sites.sites);
  if (shares.empty()) shares.assign(count, 1);
  std::int64_t common = 0;
  for (const std::int64_t share : shares) common = std::gcd(common, share);
  for (std::int64_t& share : shares) share /= common;
  const std::int64_t all = std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
  const Level& fabric = setting.machine.levels.back();
  const auto k = static_cast<double>(count);
  double between = 0, inside = 0;  // seconds for each byte, times N / S
  for (std::size_t i = 0; i < count; ++i) {
    const auto m = static_cast<double>(shares[i]);
    const BytesPerSecond own = sites.bandwidths.empty() ? sites.bandwidth : sites.bandwidths[i];
    between = std::max(between, 2 * (k - 1) / k / (m * own.value()));
    inside = std::max(inside, 2 * (m - 1) / m / fabric.bandwidth.value());
  }
  const auto s = static_cast<double>(all);
  const double slower = std::max(between, inside);
  const bool sums_inside = all > sites.sites;
  out.machine.sites = all;
  out.machine.replicas_cross = true;
  out.machine.levels.push_back({"site", 0, BytesPerSecond(2 * (s - 1) / s / slower),
                                sites.latency + (sums_inside ? fabric.latency : Seconds())});
  std::vector<std::string> names;
  for (const std::int64_t share : shares) names.push_back(std::to_string(share));
  out.name += ", sites " + join(names, ":");
  return out;
}

}  // namespace

// [LIMIT-32] Sites are the outermost level. What was outermost joins the GPUs of one site and is as
// large as a site, GPUs / sites; the search decides what crosses between sites.
Result<Setting> in_sites(const Setting& setting, const Sites& sites) {
  Problems problems;
  if (sites.sites < 1 || sites.sites > kMostSites) {
    problems.push_back({FieldName("sites"), "must be from 1 to " + std::to_string(kMostSites)});
  }
  append(problems, unlike_problems(sites));
  if (sites.bandwidths.empty() && !(sites.bandwidth > BytesPerSecond())) {
    problems.push_back({FieldName("site-bandwidth"), "must be above 0"});
  }
  if (!(sites.latency >= Seconds()) || sites.latency > Seconds(10)) {
    problems.push_back({FieldName("site-distance"), "must be from 0 to 10 s of light in glass"});
  }
  if (setting.machine.levels.size() >= static_cast<std::size_t>(kMostLevels)) {
    problems.push_back({FieldName("sites"), "the machine has " + std::to_string(kMostLevels) +
                                                " levels already, the most that are possible"});
  }
  if (setting.machine.sites > 0) {
    problems.push_back({FieldName("sites"), "the machine '" + printable(setting.machine.name) +
                                                "' has sites of its own"});
  }
  if (!problems.empty()) return problems;
  Setting out = setting;
  if (sites.sites == 1) return out;
  if (are_unlike(sites)) return in_unlike_sites(setting, sites);
  out.machine.sites = sites.sites;
  out.machine.levels.push_back(
      {"site", 0, sites.bandwidths.empty() ? sites.bandwidth : sites.bandwidths.front(),
       sites.latency});
  out.name += ", " + std::to_string(sites.sites) + " sites";
  return out;
}

}  // namespace headway::limits
