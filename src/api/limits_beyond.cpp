// headway limits: settings as flags edit them.
#include "api/limits_beyond.hpp"

#include <algorithm>
#include <limits>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "limits/machine/sites.hpp"

namespace headway {
namespace {

constexpr double kFarthestKm = 1e6;

limits::RelaxationWishes wishes_of(const LimitsRequest& request) {
  return {.method = request.relax,
          .sync_every = request.sync_every,
          .compression = request.compression,
          .sample_penalty = request.sample_penalty,
          .blocks = request.blocks,
          .submodels = request.submodels,
          .loose_level = request.loose_level};
}

bool asks_to_relax(const limits::RelaxationWishes& wishes) {
  return !wishes.method.empty() || wishes.sync_every || wishes.compression ||
         wishes.sample_penalty || wishes.blocks || wishes.submodels || wishes.loose_level;
}

// "sync_every" as the flag "sync-every".
Problem named_by_flag(Problem problem) {
  for (FieldName& field : problem.fields) {
    std::replace(field.name.begin(), field.name.end(), '_', '-');
  }
  return problem;
}

// The sites that are asked for; where a number is wrong something legal stands for it, so that the
// others are judged too.
std::optional<limits::Sites> sites_of(const LimitsRequest& request, Problems& problems) {
  const bool describes = !request.site_bandwidth.empty() || request.site_distance_km != 0;
  if (request.sites == 0) {
    if (describes) {
      problems.push_back({FieldName("sites"),
                          "is missing; --site-bandwidth and --site-distance describe "
                          "the way between that many sites",
                          Trouble::missing});
    }
    return std::nullopt;
  }
  limits::Sites out;
  out.sites = request.sites;
  out.bandwidth = BytesPerSecond(std::numeric_limits<double>::infinity());
  if (request.site_bandwidth.empty()) {
    problems.push_back({FieldName("site-bandwidth"),
                        "is missing; state what one GPU reaches in another "
                        "site, e.g. \"1 GB/s\", or unlimited",
                        Trouble::missing});
  } else if (request.site_bandwidth != "unlimited") {
    const auto bandwidth =
        parse_quantity<BytesPerSecond>(request.site_bandwidth, FieldName("site-bandwidth"));
    if (!bandwidth) {
      append(problems, bandwidth.problems());
    } else {
      out.bandwidth = *bandwidth;
    }
  }
  if (!(request.site_distance_km >= 0 && request.site_distance_km <= kFarthestKm)) {
    problems.push_back({FieldName("site-distance"), "must be from 0 to 1000000 km"});
  } else {
    out.latency = limits::latency_of_distance(1000 * request.site_distance_km);
  }
  return out;
}

// Adds what is new of `more`, named by flag: several settings have the same problems.
void append_once(Problems& problems, const Problems& more) {
  for (const Problem& problem : more) {
    const Problem named = named_by_flag(problem);
    const bool known = std::find(problems.begin(), problems.end(), named) != problems.end();
    if (!known) problems.push_back(named);
  }
}

}  // namespace

Result<std::vector<limits::Setting>> with_beyond(const std::vector<limits::Setting>& settings,
                                                 const LimitsRequest& request) {
  Problems problems;
  const std::optional<limits::Sites> sites = sites_of(request, problems);
  const limits::RelaxationWishes wishes = wishes_of(request);
  std::vector<limits::Setting> out;
  for (const limits::Setting& setting : settings) {
    out.push_back(setting);
    limits::RelaxationWishes on_top = wishes;  // of the sites, where there are any
    if (sites) {
      auto joined = limits::in_sites(setting, *sites);
      if (joined) {
        if (sites->sites > 1) out.push_back(std::move(joined).value());
      } else {
        append_once(problems, joined.problems());
        on_top.loose_level.reset();  // it may be the sites' own
      }
    }
    if (!asks_to_relax(wishes)) continue;
    auto relaxed = limits::relaxed(limits::Setting(out.back()), on_top);
    if (relaxed) {
      out.push_back(std::move(relaxed).value());
    } else {
      append_once(problems, relaxed.problems());
    }
  }
  if (!problems.empty()) return problems;
  return out;
}

std::string relaxations_text(const std::vector<limits::Setting>& settings) {
  std::string out;
  for (const limits::Setting& setting : settings) {
    if (setting.relaxation.method.empty()) continue;
    out += printable(setting.name) + ": " + printable(limits::statement_of(setting), 500) + "\n";
  }
  return out;
}

}  // namespace headway
