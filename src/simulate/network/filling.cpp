#include "simulate/network/filling.hpp"

#include <algorithm>
#include <cmath>

namespace headway::network {

// Of a heap whose top is the lowest level; equal ones in the order of the links.
struct Filling::Later {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return a.level != b.level ? a.level > b.level : a.link > b.link;
  }
};

void Filling::clear() {
  flows_.clear();
  crossings_.clear();
  crossed_.clear();
  bounded_.clear();
  ++round_;
}

void Filling::add(Route route, double weight, double bound) {
  const auto flow = static_cast<std::uint32_t>(flows_.size());
  const auto begin = static_cast<std::uint32_t>(crossings_.size());
  for (const LinkId link : route) {
    OfLink& on = on_[link];
    if (on.round != round_) {
      on = {.round = round_, .level = kNoLimit};
      crossed_.push_back(link);
    }
    crossings_.push_back({link, flow, on.first});
    on.first = static_cast<std::uint32_t>(crossings_.size() - 1);
    ++on.count;
    on.weight += weight;
  }
  if (bound < kNoLimit) bounded_.push_back(flow);
  flows_.push_back({weight, bound, kNoLimit, kOwnBound, begin,
                    static_cast<std::uint32_t>(crossings_.size()), true});
}

double Filling::rising_level(const OfLink& link) const {
  return std::max(link.left, 0.0) / link.weight;
}

void Filling::stay(std::uint32_t flow, double rate, LinkId at) {
  OfFlow& of = flows_[flow];
  of.rate = rate;
  of.bottleneck = at;
  of.rises = false;
  for (std::uint32_t c = of.begin; c < of.end; ++c) {
    OfLink& on = on_[crossings_[c].link];
    on.left -= rate;
    on.weight -= of.weight;
    --on.count;
  }
}

void Filling::use_up(LinkId link) {
  OfLink& on = on_[link];
  on.level = rising_level(on);
  for (std::uint32_t c = on.first; c != kNone; c = crossings_[c].next) {
    const std::uint32_t flow = crossings_[c].flow;
    if (flows_[flow].rises) stay(flow, on.level * flows_[flow].weight, link);
  }
}

void Filling::fill(const std::vector<double>& left) {
  candidates_.clear();
  for (std::size_t i = 0; i < crossed_.size(); ++i) {
    OfLink& on = on_[crossed_[i]];
    on.left = left[i];
    candidates_.push_back({rising_level(on), crossed_[i]});
  }
  std::make_heap(candidates_.begin(), candidates_.end(), Later());
  std::sort(bounded_.begin(), bounded_.end(), [this](std::uint32_t a, std::uint32_t b) {
    const double first = flows_[a].bound / flows_[a].weight;
    const double second = flows_[b].bound / flows_[b].weight;
    return first != second ? first < second : a < b;
  });
  std::size_t next_bounded = 0;
  const auto stay_at_bounds_below = [&](double level) {
    bool any = false;
    for (; next_bounded < bounded_.size(); ++next_bounded) {
      const std::uint32_t flow = bounded_[next_bounded];
      const OfFlow& of = flows_[flow];
      if (!of.rises) continue;
      if (of.bound / of.weight > level) break;
      stay(flow, of.bound, kOwnBound);
      any = true;
    }
    return any;
  };
  while (!candidates_.empty()) {
    // As flows stay, the level at which a link is used up can only rise.
    const Candidate lowest = candidates_.front();
    std::pop_heap(candidates_.begin(), candidates_.end(), Later());
    candidates_.pop_back();
    const OfLink& on = on_[lowest.link];
    if (on.count == 0) continue;
    const double level = rising_level(on);
    if (level > lowest.level || stay_at_bounds_below(level)) {
      candidates_.push_back({std::max(level, lowest.level), lowest.link});
      std::push_heap(candidates_.begin(), candidates_.end(), Later());
      continue;
    }
    use_up(lowest.link);
  }
  stay_at_bounds_below(kNoLimit);
}

std::vector<BytesPerSecond> shared_rates(std::span<const BytesPerSecond> capacities,
                                         std::span<const Demand> demands) {
  Filling filling(capacities.size());
  for (const Demand& each : demands) filling.add(each.route, each.weight, each.bound.value());
  std::vector<double> left;
  for (const LinkId link : filling.crossed_links()) left.push_back(capacities[link].value());
  filling.fill(left);
  std::vector<BytesPerSecond> out;
  for (std::size_t i = 0; i < demands.size(); ++i) out.emplace_back(filling.rate(i));
  return out;
}

}  // namespace headway::network
