#include "study/limits/beyond.hpp"

#include <algorithm>
#include <limits>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "limits/forms/low_communication.hpp"
#include "limits/machine/sites.hpp"

namespace headway {
namespace {

constexpr double kFarthestKm = 1e6;

limits::RelaxationWishes wishes_of(const LimitsQuestion& question) {
  return {.method = question.relax,
          .sync_every = question.sync_every,
          .compression = question.compression,
          .sample_penalty = question.sample_penalty,
          .blocks = question.blocks,
          .submodels = question.submodels,
          .loose_level = question.loose_level};
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

// The parts between commas, without blanks around them.
std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> out(1);
  for (const char each : text) {
    if (each == ',') {
      out.emplace_back();
    } else if (each != ' ' || (!out.back().empty() && out.back().back() != ' ')) {
      out.back() += each;
    }
  }
  for (std::string& part : out) {
    if (part.ends_with(' ')) part.pop_back();
  }
  return out;
}

// "4": so many alike; "4,2,1": the shares of three.
void read_sites(const std::string& text, limits::Sites& out, Problems& problems) {
  std::vector<std::int64_t> numbers;
  for (const std::string& part : listed(text)) {
    const auto number = whole_number(part);
    if (!number || *number < 1) {
      problems.push_back({FieldName("sites"), "'" + printable(text, 60) +
                                                  "' is neither a number of sites, from 1 to " +
                                                  std::to_string(limits::kMostSites) +
                                                  ", nor the shares of unlike ones, as 4,2,1"});
      return;
    }
    numbers.push_back(*number);
  }
  out.sites = numbers.size() == 1 ? numbers.front() : static_cast<std::int64_t>(numbers.size());
  if (numbers.size() > 1) out.shares = std::move(numbers);
}

std::optional<BytesPerSecond> read_bandwidth(std::string_view text, Problems& problems) {
  if (text == "unlimited") return BytesPerSecond(std::numeric_limits<double>::infinity());
  const auto bandwidth = parse_quantity<BytesPerSecond>(text, FieldName("site-bandwidth"));
  if (bandwidth) return *bandwidth;
  append(problems, bandwidth.problems());
  return std::nullopt;
}

// The sites that are asked for; where a number is wrong something legal stands for it, so that the
// others are judged too.
std::optional<limits::Sites> sites_of(const LimitsQuestion& question, Problems& problems) {
  const bool describes = !question.site_bandwidth.empty() || question.site_distance_km != 0;
  if (question.sites.empty()) {
    if (describes) {
      problems.push_back({FieldName("sites"),
                          "is missing; --site-bandwidth and --site-distance describe "
                          "the way between that many sites",
                          Trouble::missing});
    }
    return std::nullopt;
  }
  limits::Sites out;
  read_sites(question.sites, out, problems);
  out.bandwidth = BytesPerSecond(std::numeric_limits<double>::infinity());
  if (question.site_bandwidth.empty()) {
    problems.push_back({FieldName("site-bandwidth"),
                        "is missing; state what one GPU reaches in another "
                        "site, e.g. \"1 GB/s\", or unlimited"});
  } else {
    std::vector<BytesPerSecond> all;
    for (const std::string& part : listed(question.site_bandwidth)) {
      if (const auto bandwidth = read_bandwidth(part, problems)) all.push_back(*bandwidth);
    }
    if (all.size() == 1) out.bandwidth = all.front();
    if (all.size() > 1) out.bandwidths = std::move(all);
  }
  if (!(question.site_distance_km >= 0 && question.site_distance_km <= kFarthestKm)) {
    problems.push_back({FieldName("site-distance"), "must be from 0 to 1000000 km"});
  } else {
    out.latency = limits::latency_of_distance(1000 * question.site_distance_km);
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
                                                 const LimitsQuestion& question) {
  Problems problems;
  const std::optional<limits::Sites> sites = sites_of(question, problems);
  const limits::RelaxationWishes wishes = wishes_of(question);
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

}  // namespace headway
