// What keeps a time from being shorter: the rates of a machine that it hangs on, and what no rate
// of it changes. Formulas: docs/models/design.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
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

/// A time as the sum of what each rate of a machine is answerable for, and what none is.
struct BoundTimes {
  std::array<Seconds, kRateNames.size()> rates{};
  Seconds latency{};

  Seconds operator[](Bound bound) const;
  std::array<Seconds, kBoundNames.size()> of() const;  // by Bound
  Seconds total() const;
  Bound most() const;  // that of the longest
  /// Of what most() is bound by, the rate that is answerable for most of it; nothing: latency.
  std::optional<Rate> rate() const;
  BoundTimes& operator+=(const BoundTimes& other);
};

/// By Bound, of a whole; they add up to one.
using BoundShares = std::array<double, kBoundNames.size()>;
constexpr Bound most_of(const BoundShares& shares) {
  return static_cast<Bound>(std::max_element(shares.begin(), shares.end()) - shares.begin());
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
