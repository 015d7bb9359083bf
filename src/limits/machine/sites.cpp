#include "limits/machine/sites.hpp"

#include "base/text.hpp"

namespace headway::limits {

// [LIMIT-33] t = 3 d / (2 c): light in glass (refractive index 1.5). No switch, no detour: a lower
// bound for a real route.
Seconds latency_of_distance(double metres) {
  constexpr double kSpeedOfLight = 299'792'458;  // m/s
  return Seconds(1.5 * metres / kSpeedOfLight);
}

// [LIMIT-32] Sites are the outermost level. What was outermost joins the GPUs of one site and is as
// large as a site, GPUs / sites; the search decides what crosses between sites.
Result<Setting> in_sites(const Setting& setting, const Sites& sites) {
  Problems problems;
  if (sites.sites < 1 || sites.sites > kMostSites) {
    problems.push_back({FieldName("sites"), "must be from 1 to " + std::to_string(kMostSites)});
  }
  if (!(sites.bandwidth > BytesPerSecond())) {
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
  out.machine.sites = sites.sites;
  out.machine.levels.push_back({"site", 0, sites.bandwidth, sites.latency});
  out.name += ", " + std::to_string(sites.sites) + " sites";
  return out;
}

}  // namespace headway::limits
