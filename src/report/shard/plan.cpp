#include "report/shard/plan.hpp"

#include <array>

#include "base/formatted.hpp"

namespace headway {
namespace {

constexpr std::string_view kNothing = "-";

using Points = std::vector<std::optional<PlanPoint>>;

std::vector<std::string> lines_of(const Points& points) {
  std::vector<std::string> out;
  for (const std::optional<PlanPoint>& point : points) {
    out.push_back(point ? std::to_string(point->index) + " " + shortest_text(point->time.value()) +
                              " " + shortest_text(point->memory.value()) + " " +
                              shortest_text(point->energy.value())
                        : std::string(kNothing));
  }
  return out;
}

// "17 0.25 5e10 3e6": a layout of the space, seconds, bytes, joules; "-" where nothing was found.
bool read_point(std::string_view line, std::optional<PlanPoint>& into) {
  if (line == kNothing) return true;
  std::array<std::string_view, 4> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t end = i + 1 < words.size() ? line.find(' ') : line.size();
    if (end == std::string_view::npos) return false;
    words[i] = line.substr(0, end);
    line.remove_prefix(std::min(line.size(), end + 1));
  }
  const auto index = exact_count(words[0]);
  const auto time = exact_number(words[1]), memory = exact_number(words[2]),
             energy = exact_number(words[3]);
  if (!index || !time || !memory || !energy || *time < 0 || *memory < 0 || *energy < 0)
    return false;
  into = PlanPoint{*index, Seconds(*time), Bytes(*memory), Joules(*energy)};
  return true;
}

Points optional(const std::vector<PlanPoint>& points) {
  return {points.begin(), points.end()};
}

// Whether each is there.
bool all_there(const Points& points, std::vector<PlanPoint>& into) {
  for (const std::optional<PlanPoint>& point : points) {
    if (!point) return false;
    into.push_back(*point);
  }
  return true;
}

}  // namespace

PartLines plan_part_lines(const PlanPart& part) {
  return {{"best", lines_of(optional(part.best))},
          {"without", lines_of(part.without)},
          {"front", lines_of(optional(part.front))},
          {"roomy", lines_of({part.roomy})},
          {"changed", lines_of(part.changed)}};
}

Result<PlanPart> read_plan_part(const PartLines& lines) {
  const Problem wrong{"merge", "a part does not hold what a part of a plan does",
                      Trouble::malformed};
  PlanPart out;
  Points best, front, roomy;
  const std::pair<std::string_view, Points*> members[] = {{"best", &best},
                                                          {"without", &out.without},
                                                          {"front", &front},
                                                          {"roomy", &roomy},
                                                          {"changed", &out.changed}};
  if (lines.size() != std::size(members)) return wrong;
  for (const auto& [name, into] : members) {
    const auto found = lines.find(name);
    if (found == lines.end()) return wrong;
    for (const std::string& line : found->second) {
      if (!read_point(line, into->emplace_back())) return wrong;
    }
  }
  if (!all_there(best, out.best) || !all_there(front, out.front) || roomy.size() != 1) return wrong;
  out.roomy = roomy.front();
  return out;
}

}  // namespace headway
