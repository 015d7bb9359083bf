#include "study/bounds/bounds.hpp"

#include <algorithm>
#include <cmath>

namespace headway {
namespace {

// Of ln rate: small beside the distance to where another rate takes over, large beside rounding.
constexpr double kStep = 1e-4;

}  // namespace

Seconds BoundTimes::operator[](Bound bound) const {
  if (bound == Bound::latency) return latency;
  Seconds out(0);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (bound_of(static_cast<Rate>(i)) == bound) out += rates[i];
  }
  return out;
}

std::array<Seconds, kBoundNames.size()> BoundTimes::of() const {
  std::array<Seconds, kBoundNames.size()> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = (*this)[static_cast<Bound>(i)];
  return out;
}

Seconds BoundTimes::total() const {
  Seconds out = latency;
  for (const Seconds each : rates) out += each;
  return out;
}

Bound BoundTimes::most() const {
  const auto all = of();
  return static_cast<Bound>(std::max_element(all.begin(), all.end()) - all.begin());
}

std::optional<Rate> BoundTimes::rate() const {
  const Bound most_bound = most();
  std::optional<Rate> out;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const auto rate = static_cast<Rate>(i);
    if (bound_of(rate) != most_bound) continue;
    if (!out || rates[i] > rates[static_cast<std::size_t>(*out)]) out = rate;
  }
  return out;
}

BoundTimes& BoundTimes::operator+=(const BoundTimes& other) {
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i] += other.rates[i];
  latency += other.latency;
  return *this;
}

Cluster with_rate(Cluster cluster, Rate rate, double factor) {
  const auto faster = [&](Level& level) {
    level.bandwidth *= factor;
    level.port_bandwidth *= factor;
  };
  switch (rate) {
    case Rate::compute:
      for (FlopsPerSecond& peak : cluster.accelerator.peak) peak *= factor;
      break;
    case Rate::memory:
      cluster.accelerator.memory_bandwidth *= factor;
      break;
    case Rate::link:
      faster(cluster.levels.front());
      break;
    case Rate::network:
      std::for_each(cluster.levels.begin() + 1, cluster.levels.end(), faster);
      break;
    case Rate::host_link:
      cluster.accelerator.host_bandwidth *= factor;
      break;
  }
  return cluster;
}

// [DESIGN-1] Scale every rate by k and every fixed time by 1/k, and all that is priced takes 1/k as
// long: t is homogeneous of degree -1 in (rates, 1/fixed times). By Euler's theorem
//   t = Σ over rates of (-d t / d ln rate) + (d t / d ln fixed times),
// so that the share of a time that a rate is answerable for is -d ln t / d ln rate, and what is
// left is latency. Of max(a/x, b/y) all goes to the longer; of a sum each part to its own. The
// derivative is a central difference. Valid where t is smooth; on a kink the two sides share.
std::vector<Elasticities> elasticities(const Cluster& cluster, const TimesOn& times) {
  const std::vector<Seconds> base = times(cluster);
  std::vector<Elasticities> out(base.size(), Elasticities{});
  for (std::size_t rate = 0; rate < kRateNames.size(); ++rate) {
    const auto at = [&](double step) {
      return times(with_rate(cluster, static_cast<Rate>(rate), std::exp(step)));
    };
    const std::vector<Seconds> faster = at(kStep), slower = at(-kStep);
    for (std::size_t i = 0; i < base.size(); ++i) {
      if (base[i] > Seconds(0)) out[i][rate] = (slower[i] - faster[i]) / (2 * kStep * base[i]);
    }
  }
  return out;
}

BoundTimes bounds_of(Seconds time, const Elasticities& rates) {
  BoundTimes out;
  out.latency = time;
  for (std::size_t rate = 0; rate < kRateNames.size(); ++rate) {
    out.rates[rate] = time * rates[rate];
    out.latency -= out.rates[rate];
  }
  return out;
}

std::vector<BoundTimes> bound_times(const Cluster& cluster, const TimesOn& times) {
  const std::vector<Seconds> base = times(cluster);
  const std::vector<Elasticities> rates = elasticities(cluster, times);
  std::vector<BoundTimes> out;
  for (std::size_t i = 0; i < base.size(); ++i) out.push_back(bounds_of(base[i], rates[i]));
  return out;
}

}  // namespace headway
