#include "cluster/settings.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "base/quantity_text.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "cluster/load.hpp"

namespace headway {
namespace {

// Rates were measured from 0.71 to 1.43 times the power of a board [FORECAST-12].
constexpr double kLeastPower = 0.4, kMostPower = 1.5;
// Variants of one name differ by less: beyond it is a slip of the unit.
constexpr double kMostTimes = 20;

using Wrong = std::optional<std::string>;

template <class Q>
Wrong read_quantity(std::string_view text, Q& into) {
  const auto read = parse_quantity<Q>(text, Where());
  if (!read) return read.problems().front().message;
  into = *read;
  return std::nullopt;
}

Wrong set_board_power(std::string_view text, Cluster& cluster) {
  Watts power;
  if (const Wrong wrong = read_quantity(text, power)) return wrong;
  Accelerator& accelerator = cluster.accelerator;
  const Watts least = std::max(kLeastPower * accelerator.tdp, accelerator.idle_power);
  const Watts most = kMostPower * accelerator.tdp;
  if (power < least || power > most) {
    return "how fast " + accelerator.title + " runs at " + to_text(power) +
           " is not known; legal: from " + to_text(least) + " to " + to_text(most) +
           " (its data sheet: " + to_text(accelerator.tdp) + ")";
  }
  accelerator.board_power = power;
  return std::nullopt;
}

Wrong refuse_unlike(BytesPerSecond given, BytesPerSecond known) {
  if (given * kMostTimes >= known && given <= known * kMostTimes) return std::nullopt;
  return to_text(given) + " is far from the " + to_text(known) +
         " that are known of it; is the unit right?";
}

Wrong set_memory_bandwidth(std::string_view text, Cluster& cluster) {
  BytesPerSecond bandwidth;
  if (const Wrong wrong = read_quantity(text, bandwidth)) return wrong;
  BytesPerSecond& of = cluster.accelerator.memory_bandwidth;
  if (const Wrong wrong = refuse_unlike(bandwidth, of)) return wrong;
  of = bandwidth;
  return std::nullopt;
}

std::span<Level> network_levels(Cluster& cluster) {
  return std::span(cluster.levels).subspan(static_cast<std::size_t>(memory_levels(cluster)));
}

// The innermost level of the class between nodes of built-in clusters.
std::optional<Level> built_in_network(std::string_view name, std::set<std::string>& names) {
  std::optional<Level> out;
  for (const std::string& cluster_name : cluster_names()) {
    Cluster cluster = load_cluster(cluster_name).value();
    for (const Level& level : network_levels(cluster)) {
      names.insert(level.network);
      if (level.network == name && !out) out = level;
    }
  }
  return out;
}

Wrong set_network(std::string_view text, Cluster& cluster) {
  std::set<std::string> names;
  const auto known = built_in_network(text, names);
  if (!known) {
    return "'" + printable(std::string(text)) + "' is not a known class of networks; legal: " +
           join(std::vector<std::string>(names.begin(), names.end()), ", ");
  }
  const std::string before = network_levels(cluster).front().network;
  for (Level& level : network_levels(cluster)) {
    if (level.network != before || level.network == text) continue;
    level.network = known->network;
    level.latency = known->latency;
    level.in_network_reduction = known->in_network_reduction;
    level.constants = {};  // were measured on the other one
  }
  return std::nullopt;
}

Wrong set_network_bandwidth(std::string_view text, Cluster& cluster) {
  const std::size_t times = text.find(" x ");
  const auto cards = times == std::string_view::npos ? std::optional<std::int64_t>()
                                                     : whole_number(text.substr(0, times));
  BytesPerSecond rate;
  if (times != std::string_view::npos && (!cards || *cards < 1)) {
    return "'" + printable(std::string(text)) +
           "' is no bandwidth; give that of an accelerator, as \"50 GB/s\", or the cards of a "
           "node, as \"8 x 400 Gb/s\"";
  }
  if (const Wrong wrong = read_quantity(cards ? text.substr(times + 3) : text, rate)) return wrong;
  const std::span<Level> outside = network_levels(cluster);
  const std::size_t inside = cluster.levels.size() - outside.size();
  const double ranks = inside == 0 ? 1.0 : static_cast<double>(cluster.levels[inside - 1].size);
  // A node shares its cards; one accelerator alone drives one, or its share.
  const BytesPerSecond each = cards ? rate * (static_cast<double>(*cards) / ranks) : rate;
  const BytesPerSecond alone = std::max(rate, each);
  const BytesPerSecond before = outside.front().bandwidth;
  if (const Wrong wrong = refuse_unlike(each, before)) return wrong;
  for (Level& level : outside) {
    level.bandwidth = level.bandwidth * (each / before);
    level.port_bandwidth = std::max(level.bandwidth, level.port_bandwidth * (each / before));
  }
  outside.front().bandwidth = each;
  outside.front().port_bandwidth = alone;
  if (cards) outside.front().nics = *cards;
  return std::nullopt;
}

constexpr MachineSetting kSettings[] = {{"board-power", set_board_power},
                                        {"memory-bandwidth", set_memory_bandwidth},
                                        {"network", set_network},
                                        {"network-bandwidth", set_network_bandwidth}};

}  // namespace

std::span<const MachineSetting> machine_settings() {
  return kSettings;
}

}  // namespace headway
