#include "simulate/network/filling.hpp"

#include <algorithm>

namespace headway::network {
namespace {

constexpr double kSameLevel = 1e-11;        // rounding, of the level
constexpr std::uint32_t kLink = 1U << 31U;  // of a candidate: a link; else a flow

}  // namespace

Filling::Filling(std::span<const Link> links)
    : links_(links.size()), is_left_behind_(links.size()) {
  capacity_.reserve(links.size());
  for (const Link& link : links) capacity_.push_back(link.capacity.value());
  for (std::size_t i = 0; i < links.size(); ++i) links_[i].left = capacity_[i];
}

// Rare: every flow gets the room of the longest route.
void Filling::widen(std::uint32_t hops) {
  std::uint32_t wider = stride_;
  while ((1U << wider) < hops) ++wider;
  const auto place = [&](std::uint32_t hop) {
    return ((hop >> stride_) << wider) + (hop & ((1U << stride_) - 1));
  };
  std::vector<Hop> widened(flows_.size() << wider);
  for (std::uint32_t i = 0; i < hops_.size(); ++i) widened[place(i)] = hops_[i];
  for (OnLink& link : links_) {
    for (std::uint32_t& hop : link.hops) hop = place(hop);
  }
  hops_ = std::move(widened);
  stride_ = wider;
}

Filling::FlowId Filling::add(const Demand& demand) {
  const auto hops = static_cast<std::uint32_t>(demand.route.size());
  if (hops > 1U << stride_) widen(hops);
  if (free_.empty()) {
    free_.push_back(static_cast<FlowId>(flows_.size()));
    flows_.emplace_back();
    hops_.resize(flows_.size() << stride_);
  }
  const FlowId flow = free_.back();
  free_.pop_back();
  flows_[flow] = {.weight = demand.weight, .bound = demand.bound.value(), .hops = hops};
  Hop* hop = hops_.data() + (std::size_t{flow} << stride_);
  for (const LinkId link : demand.route) *hop++ = {link, 0};
  return flow;
}

// Most flows of a collective are alone: their links are told of them when another flow comes.
void Filling::charge_alone(LinkId id) {
  if (links_[id].hops.size() != 1) return;
  OfFlow& of = flows_[flow_of(links_[id].hops.front())];
  if (!of.alone) return;
  of.alone = false;
  of.level = of.rate / of.weight;
  for (const Hop& hop : hops_of(flow_of(links_[id].hops.front()))) {
    OnLink& link = links_[hop.link];
    if (hop.link == of.bottleneck) {
      link.weight = of.weight;
      link.level = of.level;
      link.rising = 1;
    } else {
      link.left -= of.rate;
    }
  }
}

bool Filling::enter(FlowId flow) {
  OfFlow& of = flows_[flow];
  of.on_links = true;
  of.rate = of.bound;
  bool alone = true;
  auto at = flow << stride_;
  for (Hop& hop : hops_of(flow)) {
    std::vector<std::uint32_t>& there = links_[hop.link].hops;
    if (!there.empty()) {
      alone = false;
      charge_alone(hop.link);
    }
    hop.place = static_cast<std::uint32_t>(there.size());
    there.push_back(at++);
    if (capacity_[hop.link] < of.rate) of.rate = capacity_[hop.link], of.bottleneck = hop.link;
  }
  of.alone = alone;
  if (alone) return true;
  of.rate = 0;
  of.bottleneck = kOwnBound;
  entered_.push_back(flow);
  return false;
}

void Filling::leave(FlowId flow) {
  const OfFlow& of = flows_[flow];
  free_.push_back(flow);
  if (of.alone) {
    for (const Hop& hop : hops_of(flow)) links_[hop.link].hops.pop_back();
    return;
  }
  if (!of.on_links) return;
  if (of.level == 0) std::erase(entered_, flow);  // rare: nobody waited for its rate
  for (const Hop& hop : hops_of(flow)) {
    OnLink& link = links_[hop.link];
    const std::uint32_t last = link.hops.back();
    link.hops[hop.place] = last;
    hops_[last].place = hop.place;
    link.hops.pop_back();
    if (link.hops.empty()) {
      link.left = capacity_[hop.link];
      link.weight = 0;
      link.level = kNoLimit;
      link.rising = link.updates = 0;
      continue;
    }
    if (hop.link == of.bottleneck) {
      link.weight -= of.weight;
      if (--link.rising == 0) link.weight = 0, link.level = kNoLimit;
    } else {
      link.left += of.rate;
      ++link.updates;
    }
    if (!is_left_behind_[hop.link]) {
      is_left_behind_[hop.link] = true;
      left_behind_.push_back(hop.link);
    }
  }
}

double Filling::full_level(const OnLink& link) {
  return link.rising == 0 ? kNoLimit : std::max(link.left, 0.0) / link.weight;
}

// What it leaves, summed up anew after many changes, so that rounding does not add up.
void Filling::sum_up(LinkId id) {
  OnLink& link = links_[id];
  if (link.updates < 64 + 4 * link.hops.size()) return;
  link.updates = 0;
  link.left = capacity_[id];
  link.weight = 0;
  for (const std::uint32_t hop : link.hops) {
    const OfFlow& of = flows_[flow_of(hop)];
    if (of.bottleneck == id || of.rises) {
      link.weight += of.weight;
    } else {
      link.left -= of.rate;
    }
  }
}

// It is looked at where it is full, or where the flows that it holds were held, whatever is lower.
void Filling::look_at(LinkId id) {
  OnLink& link = links_[id];
  const double level = std::min(full_level(link), link.level);
  if (level >= link.queued) return;
  link.queued = level;
  levels_.put(level, id | kLink);
}

// The flow rises on from here, on all of its links.
void Filling::let_go(FlowId flow) {
  OfFlow& of = flows_[flow];
  if (!of.touched) {
    of.touched = true;
    touched_.push_back({flow, of.rate});
  }
  of.rises = true;
  for (const Hop& hop : hops_of(flow)) {
    if (hop.link != of.bottleneck) {
      OnLink& link = links_[hop.link];
      link.left += of.rate;
      link.weight += of.weight;
      ++link.rising;
      ++link.updates;
    }
    look_at(hop.link);
  }
  of.bottleneck = kOwnBound;
  if (of.bound < kNoLimit) levels_.put(of.bound / of.weight, flow);
}

void Filling::hold(FlowId flow, double level, double rate, LinkId at) {
  OfFlow& of = flows_[flow];
  of.rises = false;
  of.level = level;
  of.rate = rate;
  of.bottleneck = at;
  for (const Hop& hop : hops_of(flow)) {
    if (hop.link == at) continue;
    OnLink& link = links_[hop.link];
    link.left -= rate;
    link.weight -= of.weight;
    ++link.updates;
    if (--link.rising == 0) link.weight = 0, link.level = kNoLimit;
  }
}

// All flows of lower levels have their rates. The link lets go what it held too low, takes what
// others hold too high, or holds those that rise.
void Filling::use_up(LinkId id) {
  OnLink& link = links_[id];
  const double full = full_level(link);
  link.queued = 0;  // not to be looked at meanwhile
  if (full > link.level * (1 + kSameLevel)) {
    link.level = kNoLimit;
    for (const std::uint32_t hop : link.hops) {
      if (flows_[flow_of(hop)].bottleneck == id) let_go(flow_of(hop));
    }
    link.queued = kNoLimit;
    return look_at(id);
  }
  if (full < link.level * (1 - kSameLevel)) {
    bool more = false;
    for (const std::uint32_t hop : link.hops) {
      const OfFlow& of = flows_[flow_of(hop)];
      if (of.rises || of.level <= full * (1 + kSameLevel)) continue;
      more = more || of.bottleneck != id;
      let_go(flow_of(hop));
    }
    link.level = more ? kNoLimit : full;
    if (more) {
      link.queued = kNoLimit;
      return look_at(id);
    }
  }
  for (const std::uint32_t hop : link.hops) {
    const OfFlow& of = flows_[flow_of(hop)];
    if (of.rises) hold(flow_of(hop), link.level, link.level * of.weight, id);
  }
  link.queued = kNoLimit;
}

// Whether the flow still rises; whether the link is still to be looked at there. As flows are held
// the level at which a link is full can only rise.
bool Filling::stands(const Levels::Entry& entry) {
  if ((entry.who & kLink) == 0) return flows_[entry.who].rises;
  const LinkId id = entry.who & ~kLink;
  OnLink& link = links_[id];
  if (link.queued != entry.level) return false;  // it was looked at since, or is to be lower down
  if (std::min(full_level(link), link.level) <= entry.level) return true;
  link.queued = kNoLimit;
  look_at(id);
  return false;
}

void Filling::settle() {
  changed_.clear();
  for (const LinkId link : left_behind_) {
    is_left_behind_[link] = false;
    look_at(link);
  }
  left_behind_.clear();
  for (const FlowId flow : entered_) let_go(flow);
  entered_.clear();
  Levels::Entry lowest{};
  while (levels_.take(lowest, [this](const Levels::Entry& each) { return stands(each); })) {
    if (!stands(lowest)) continue;
    if ((lowest.who & kLink) == 0) {
      hold(lowest.who, lowest.level, flows_[lowest.who].bound, kOwnBound);
      continue;
    }
    const LinkId id = lowest.who & ~kLink;
    links_[id].queued = kNoLimit;
    sum_up(id);
    use_up(id);
  }
  for (const Touched& each : touched_) {
    flows_[each.flow].touched = false;
    if (flows_[each.flow].rate != each.rate) changed_.push_back(each.flow);
  }
  touched_.clear();
}

std::vector<BytesPerSecond> shared_rates(std::span<const BytesPerSecond> capacities,
                                         std::span<const Demand> demands) {
  std::vector<Link> links;
  for (const BytesPerSecond capacity : capacities)
    links.push_back({kNowhere, kNowhere, capacity, Seconds(0)});
  Filling filling(links);
  for (const Demand& each : demands) filling.enter(filling.add(each));
  filling.settle();
  std::vector<BytesPerSecond> out;
  for (Filling::FlowId i = 0; i < demands.size(); ++i) out.emplace_back(filling.rate(i));
  return out;
}

}  // namespace headway::network
