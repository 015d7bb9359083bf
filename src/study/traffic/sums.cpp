#include "study/traffic/sums.hpp"

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

void add(TrafficSum& sum, const TrafficCall& call, double share = 1) {
  sum.calls += share * call.call.count;
  sum.algorithm += share * call.algorithm;
  sum.wire += share * call.wire;
  sum.time += share * call.each * call.call.count;
  sum.latency += share * call.latency * call.call.count;
  sum.exposed += share * call.exposed;
}

}  // namespace

TrafficSum sum_of(const std::vector<TrafficCall>& calls) {
  TrafficSum out;
  out.name = "all";
  for (const TrafficCall& call : calls) add(out, call);
  return out;
}

std::vector<TrafficSum> sums_by(const std::vector<TrafficCall>& calls,
                                const std::function<std::string(const TrafficCall&)>& key) {
  std::vector<TrafficSum> out;
  for (const TrafficCall& call : calls) {
    const std::string name = key(call);
    auto at =
        std::find_if(out.begin(), out.end(), [&](const auto& sum) { return sum.name == name; });
    if (at == out.end()) {
      out.emplace_back();
      at = out.end() - 1;
      at->name = name;
    }
    add(*at, call);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.wire > b.wire; });
  return out;
}

std::vector<TrafficSum> sums_by_module(const std::vector<TrafficCall>& calls) {
  std::vector<TrafficSum> out;
  for (std::size_t i = 0; i < kModules; ++i) {
    TrafficSum sum;
    sum.name = kModuleNames[i];
    for (const TrafficCall& call : calls) add(sum, call, call.serves[i]);
    if (sum.calls > 0) out.push_back(std::move(sum));
  }
  return out;
}

std::string group_of(const TrafficCall& call) {
  return std::string(to_name(call.call.group));
}
std::string operation_of(const TrafficCall& call) {
  return std::string(to_name(call.call.op));
}
std::string phase_of(const TrafficCall& call) {
  return std::string(to_name(call.call.phase));
}
std::string group_and_operation_of(const TrafficCall& call) {
  return group_of(call) + " " + operation_of(call);
}

TrafficSum small_sum(const std::vector<TrafficCall>& calls) {
  TrafficSum out;
  out.name = "small";
  for (const TrafficCall& call : calls) {
    if (call.small) add(out, call);
  }
  return out;
}

// [COMM-3] The ranks active in a domain of the level below send alike; what leaves the domain goes
// through its network cards in equal shares. Where the cluster states no cards, each rank has a
// port of its own. Rates are the data sheet's, without the calibration's efficiency.
std::vector<LevelLoad> level_loads(const std::vector<TrafficCall>& calls, const Traffic& traffic,
                                   const Cluster& cluster) {
  const std::array<std::int64_t, kMostLevels> domains = domains_in_use(cluster, traffic.ranks);
  std::vector<LevelLoad> out;
  const std::size_t levels = std::min<std::size_t>(cluster.levels.size(), kMostLevels);
  for (std::size_t i = 0; i < levels; ++i) {
    const Level& level = cluster.levels[i];
    LevelLoad load;
    load.level = i;
    for (const TrafficCall& call : calls) load.wire += call.wire_at[i];
    if (!(load.wire.value() > 0)) continue;
    load.each_port = load.wire;
    load.port_rate = level.bandwidth;
    if (level.nics > 0) {
      const double size_below =
          i == 0 ? 1.0 : static_cast<double>(std::max<std::int64_t>(cluster.levels[i - 1].size, 1));
      const double ports = static_cast<double>(level.nics);
      load.ports = level.nics;
      load.sharing = i == 0 ? 1 : std::min(domains[i - 1], traffic.ranks);
      load.each_port = load.wire * (static_cast<double>(load.sharing) / ports);
      load.port_rate = level.bandwidth * (size_below / ports);
    }
    load.busy = (load.each_port / load.port_rate) / traffic.step_time;
    out.push_back(load);
  }
  return out;
}

std::vector<SizeClass> size_histogram(const std::vector<TrafficCall>& calls) {
  std::vector<SizeClass> out;
  if (calls.empty()) return out;
  const auto power_of = [](const TrafficCall& call) {
    return std::ilogb(call.call.bytes.value());  // exact, where log2 may round up
  };
  const auto [least, most] =
      std::minmax_element(calls.begin(), calls.end(),
                          [&](const auto& a, const auto& b) { return power_of(a) < power_of(b); });
  const int first = power_of(*least);
  for (int power = first; power <= power_of(*most); ++power) {
    out.push_back({power, {}});
  }
  for (const TrafficCall& call : calls) {
    add(out[static_cast<std::size_t>(power_of(call) - first)].sum, call);
  }
  return out;
}

}  // namespace headway
