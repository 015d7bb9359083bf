#include "study/ramp/profile.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "base/whole_number.hpp"

namespace headway {
namespace {

constexpr std::string_view kBetween = " -- ";
constexpr std::size_t kLongestProfile = std::size_t{4} << 20U;  // bytes
constexpr std::size_t kMostProfileProblems = 20;
constexpr double kLargestFigure = 1e18;

std::string_view trimmed_view(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view between) {
  std::vector<std::string_view> out;
  for (std::size_t at = text.find(between); at != std::string_view::npos; at = text.find(between)) {
    out.push_back(text.substr(0, at));
    text.remove_prefix(at + between.size());
  }
  out.push_back(text);
  return out;
}

std::optional<int> node_id(std::string_view text) {
  text = trimmed_view(text);
  if (text.substr(0, 4) != "node") return std::nullopt;
  text.remove_prefix(4);
  int id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || id < 1) return std::nullopt;
  return id;
}

std::optional<double> figure(std::string_view text) {
  text = trimmed_view(text);
  const auto out = real_number(text);
  return out && *out >= 0 && *out <= kLargestFigure ? out : std::nullopt;
}

// A number, or the sum of [a; b; c].
std::optional<double> figures(std::string_view text) {
  text = trimmed_view(text);
  if (text.empty() || text.front() != '[') return figure(text);
  if (text.back() != ']') return std::nullopt;
  double sum = 0;
  for (const std::string_view part : split_at(text.substr(1, text.size() - 2), ";")) {
    const auto one = figure(part);
    if (!one) return std::nullopt;
    sum += *one;
  }
  return sum;
}

struct ProfileReader {
  ModelProfile profile;
  std::vector<std::pair<int, int>> edges;  // of ids
  std::vector<int> edge_lines;
  Problems problems;

  Where at(int line) const { return Where(profile.name, line); }
  void fail(int line, std::string what) {
    if (problems.size() < kMostProfileProblems) problems.push_back({at(line), std::move(what)});
  }

  void read_op(const std::vector<std::string_view>& parts, int line) {
    const auto id = node_id(parts[0]);
    if (!id) return fail(line, "must begin with nodeN, N from 1");
    constexpr std::string_view kNames[] = {"forward_compute_time", "backward_compute_time",
                                           "activation_size", "parameter_size"};
    double values[4] = {};
    const auto cells = split_at(parts.back(), ", ");
    for (std::size_t i = 0; i < 4; ++i) {
      const auto sides =
          i < cells.size() ? split_at(cells[i], "=") : std::vector<std::string_view>();
      const bool named = sides.size() == 2 && trimmed_view(sides[0]) == kNames[i];
      const auto value = named ? figures(sides[1]) : std::nullopt;
      if (!value) return fail(line, "needs " + std::string(kNames[i]) + "=, from 0 to 1e18");
      values[i] = *value;
    }
    const std::string_view kind = parts[1].substr(0, parts[1].find('('));
    profile.ops.push_back({*id, std::string(trimmed_view(kind)), Seconds(values[0]),
                           Seconds(values[1]), Bytes(values[2]), Bytes(values[3])});
  }

  void read_line(std::string_view text, int line) {
    if (trimmed_view(text).empty()) return;
    const auto parts = split_at(text, kBetween);
    if (parts.size() > 2) return read_op(parts, line);
    const auto from = node_id(parts[0]);
    const auto to = parts.size() == 2 ? node_id(parts[1]) : std::nullopt;
    if (!from || !to) {
      return fail(line, "is neither nodeN -- DESCRIPTION -- FIGURES nor nodeA -- nodeB");
    }
    edges.emplace_back(*from, *to);
    edge_lines.push_back(line);
  }

  // Places of ids; ids that are not 1 ... N are problems.
  std::map<int, std::size_t> places() {
    std::map<int, std::size_t> out;
    for (std::size_t i = 0; i < profile.ops.size(); ++i) {
      const int id = profile.ops[i].id;
      if (!out.emplace(id, i).second) fail(0, "node" + std::to_string(id) + " stands twice");
      if (id > static_cast<int>(profile.ops.size())) {
        fail(0, "node" + std::to_string(id) + ": nodes must be numbered from 1 to their number, " +
                    std::to_string(profile.ops.size()));
      }
    }
    return out;
  }

  void join(const std::map<int, std::size_t>& places) {
    std::set<std::pair<int, int>> seen;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const auto from = places.find(edges[i].first), to = places.find(edges[i].second);
      if (from == places.end() || to == places.end()) {
        fail(edge_lines[i], "joins a node that does not stand in the file");
      } else if (!seen.insert(edges[i]).second) {
        fail(edge_lines[i], "stands twice");
      } else {
        profile.edges.push_back({from->second, to->second});
      }
    }
  }

  bool has_circle() const {
    std::vector<int> waits(profile.ops.size());
    std::vector<std::vector<std::size_t>> after(profile.ops.size());
    for (const ProfiledEdge& edge : profile.edges) {
      ++waits[edge.to];
      after[edge.from].push_back(edge.to);
    }
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i] == 0) ready.push_back(i);
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
      for (const std::size_t next : after[ready[i]]) {
        if (--waits[next] == 0) ready.push_back(next);
      }
    }
    return ready.size() != profile.ops.size();
  }
};

}  // namespace

Result<ModelProfile> read_profile(std::string_view text, const std::string& name) {
  ProfileReader reader;
  reader.profile.name = name;
  if (text.size() > kLongestProfile) return Problem{name, "is longer than 4 MiB"};
  int line = 0;
  for (const std::string_view each : split_at(text, "\n")) reader.read_line(each, ++line);
  if (reader.profile.ops.empty()) reader.fail(0, "holds no operations");
  if (reader.profile.ops.size() > kMostProfiledOps)
    reader.fail(0, "holds more than 2000 operations");
  if (reader.edges.size() > kMostProfiledEdges) reader.fail(0, "holds more than 20000 edges");
  if (!reader.problems.empty()) return reader.problems;
  reader.join(reader.places());
  if (reader.problems.empty() && reader.has_circle()) reader.fail(0, "its edges run in a circle");
  if (!reader.problems.empty()) return reader.problems;
  return std::move(reader.profile);
}

}  // namespace headway
