#include "cluster/slice.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/whole_number.hpp"

namespace headway {
namespace {

// What people call a level by the network that makes it one: an NVL72 is a rack.
struct LevelWord {
  std::string_view said, network;  // the end of the network class
};
constexpr LevelWord kLevelWords[] = {{"rack", "-nvl72"}};

bool is_called(const Level& level, std::string_view name) {
  return level.name == name ||
         std::any_of(std::begin(kLevelWords), std::end(kLevelWords), [&](const LevelWord& word) {
           return word.said == name && level.network.ends_with(word.network);
         });
}

std::string names_of(const Cluster& cluster) {
  std::vector<std::string> names;
  for (const Level& level : cluster.levels) {
    std::string name = level.name;
    for (const LevelWord& word : kLevelWords) {
      if (level.network.ends_with(word.network)) name += " or " + std::string(word.said);
    }
    names.push_back(name + "=1.." + std::to_string(level.size));
  }
  return join(names, ", ");
}

}  // namespace

std::optional<std::string> set_slices(std::string_view text, std::int64_t ranks, Cluster& cluster) {
  std::vector<std::int64_t> given(cluster.levels.size(), 0);  // 0: not stated
  do {
    const std::string_view each = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), each.size() + 1));
    const std::size_t equal = std::min(each.find('='), each.size());
    const auto level =
        std::find_if(cluster.levels.begin(), cluster.levels.end(),
                     [&](const Level& one) { return is_called(one, each.substr(0, equal)); });
    const auto count =
        equal < each.size() ? whole_number(each.substr(equal + 1)) : std::optional<std::int64_t>();
    if (level == cluster.levels.end() || !count || *count < 1 || *count > level->size) {
      return "'" + printable(std::string(each)) + "' is no LEVEL=N of " + cluster.name +
             "; legal: " + names_of(cluster);
    }
    given[static_cast<std::size_t>(level - cluster.levels.begin())] = *count;
  } while (!text.empty());

  Cluster sliced = cluster;
  std::int64_t whole = 1, inside = 1;  // a domain of the level inside, before and now
  for (std::size_t i = 0; i < given.size(); ++i) {
    Level& level = sliced.levels[i];
    const std::int64_t left = level.size / whole * inside;
    whole = level.size;
    if (given[i] == 0) {
      inside = left;
    } else if (given[i] > left || given[i] % inside != 0) {
      return level.name + "=" + std::to_string(given[i]) + " is not of whole slices of " +
             std::to_string(inside) + " of the level inside, of which a domain has " +
             std::to_string(left / inside);
    } else if (ranks % given[i] != 0) {
      return std::to_string(given[i]) + " accelerators of each " + level.name +
             " do not divide the " + std::to_string(ranks) + " of the run; legal: a divisor";
    } else {
      inside = given[i];
    }
    if (level.size != inside) level.usable = 0;
    level.size = inside;
  }
  sliced.accelerators = inside;
  if (ranks > sliced.accelerators) {
    return "leaves " + std::to_string(sliced.accelerators) + " accelerators of " + cluster.name +
           "; the run has " + std::to_string(ranks);
  }
  cluster = std::move(sliced);
  return std::nullopt;
}

}  // namespace headway
