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

// Of a network: "250 1 5e10 0.25", how many were tried, whether any is legal, the least that a rank
// holds, the least time; "17 0.25", a layout and its value; "17", one that was tried.
constexpr std::string_view kNetwork = "network", kBest = "network-best", kSeen = "network-seen";

PartLines network_lines(const NetworkPart& part) {
  PartLines out{{std::string(kBest), {}}, {std::string(kSeen), {}}};
  out[std::string(kNetwork)] = {std::to_string(part.tried) + (part.any ? " 1 " : " 0 ") +
                                shortest_text(part.least_memory.value()) + " " +
                                shortest_text(part.floor.value())};
  for (const NetworkPart::Point& point : part.best) {
    out[std::string(kBest)].push_back(std::to_string(point.index) + " " +
                                      shortest_text(point.value));
  }
  for (const std::uint64_t index : part.seen) {
    out[std::string(kSeen)].push_back(std::to_string(index));
  }
  return out;
}

// Words between single spaces.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::size_t end = line.find(' '); end != std::string_view::npos; end = line.find(' ')) {
    out.push_back(line.substr(0, end));
    line.remove_prefix(end + 1);
  }
  out.push_back(line);
  return out;
}

std::optional<NetworkPart> read_network(const PartLines& lines) {
  const auto all = lines.find(kNetwork), best = lines.find(kBest), seen = lines.find(kSeen);
  if (lines.size() != 3 || best == lines.end() || seen == lines.end() || all->second.size() != 1) {
    return std::nullopt;
  }
  NetworkPart out;
  const auto words = words_of(all->second.front());
  if (words.size() != 4) return std::nullopt;
  const auto tried = exact_count(words[0]), any = exact_count(words[1]);
  const auto memory = exact_number(words[2]), floor = exact_number(words[3]);
  if (!tried || !any || *any > 1 || !memory || !floor || *memory < 0 || *floor < 0) {
    return std::nullopt;
  }
  out.tried = *tried;
  out.any = *any == 1;
  out.least_memory = Bytes(*memory);
  out.floor = Seconds(*floor);
  for (const std::string& line : best->second) {
    const auto of = words_of(line);
    const auto index = exact_count(of[0]);
    const auto value = of.size() == 2 ? exact_number(of[1]) : std::nullopt;
    if (!index || !value || *value < 0) return std::nullopt;
    out.best.push_back({*index, *value});
  }
  for (const std::string& line : seen->second) {
    const auto index = exact_count(line);
    if (!index) return std::nullopt;
    out.seen.push_back(*index);
  }
  return out;
}

}  // namespace

PartLines plan_part_lines(const PlanPart& part) {
  if (part.network) return network_lines(*part.network);
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
  if (lines.contains(kNetwork)) {
    out.network = read_network(lines);
    return out.network ? Result<PlanPart>(std::move(out)) : Result<PlanPart>(wrong);
  }
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
