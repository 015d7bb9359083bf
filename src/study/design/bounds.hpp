// What keeps a time from being shorter: the rates of a machine that it hangs on, and what no rate
// of it changes. Formulas: docs/models/design.md.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "cluster/cluster.hpp"

namespace headway {

/// latency: starts of kernels and messages, hosts: all that no rate shortens.
enum class Bound : std::uint8_t { compute, memory, network, latency };
constexpr std::array<std::string_view, 4> kBoundNames = {"compute", "memory", "network", "latency"};
constexpr std::string_view to_name(Bound bound) {
  return kBoundNames[static_cast<std::size_t>(bound)];
}

/// A time as the sum of what each of them is answerable for.
struct BoundTimes {
  std::array<Seconds, kBoundNames.size()> of{};
  Seconds& operator[](Bound bound) { return of[static_cast<std::size_t>(bound)]; }
  Seconds operator[](Bound bound) const { return of[static_cast<std::size_t>(bound)]; }
  Seconds total() const;
  Bound most() const;  // that of the longest
  BoundTimes& operator+=(const BoundTimes& other);
};

/// The rates of a machine. compute: the peaks of all formats; link, network: of the innermost
/// level, and of all others.
enum class Rate : std::uint8_t { compute, memory, link, network, host_link };
constexpr std::array<std::string_view, 5> kRateNames = {"compute", "memory", "link", "network",
                                                        "host_link"};
constexpr Bound bound_of(Rate rate) {
  return rate == Rate::compute  ? Bound::compute
         : rate == Rate::memory ? Bound::memory
                                : Bound::network;
}

/// The machine with a rate times `factor`.
Cluster with_rate(Cluster cluster, Rate rate, double factor);

/// What each rate is answerable for, of each of the times that a machine takes for the same things
/// in the same order.
using TimesOn = std::function<std::vector<Seconds>(const Cluster&)>;
std::vector<BoundTimes> bound_times(const Cluster& cluster, const TimesOn& times);

/// [DESIGN-1] -d ln t / d ln rate of each time, by Rate.
using Elasticities = std::array<double, kRateNames.size()>;
std::vector<Elasticities> elasticities(const Cluster& cluster, const TimesOn& times);
/// A time of such elasticities.
BoundTimes bounds_of(Seconds time, const Elasticities& rates);

}  // namespace headway
