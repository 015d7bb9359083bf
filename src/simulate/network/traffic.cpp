#include "simulate/network/traffic.hpp"

#include <algorithm>
#include <cmath>

namespace headway::network {
namespace {

constexpr double kSameMoment = 1e-12;  // of the time
constexpr double kSameLevel = 1e-11;   // rounding, of the level

}  // namespace

struct Traffic::Later {
  bool operator()(const Entry& a, const Entry& b) const {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
  }
};

Traffic::Traffic(std::span<const Link> links) : filling_(links.size()) {
  latency_.reserve(links.size());
  links_.reserve(links.size());
  for (const Link& link : links) {
    latency_.push_back(link.latency.value());
    links_.push_back({.capacity = link.capacity.value()});
  }
}

std::uint32_t Traffic::take_slot(std::uint32_t hops) {
  if (hops > stride_) {  // rare: every flow gets the room of the longest route
    std::uint32_t wider = stride_;
    while (wider < hops) wider *= 2;
    std::vector<Hop> moved(flows_.size() * wider);
    const auto place = [&](std::uint32_t at) {
      return at == kNone ? kNone : at / stride_ * wider + at % stride_;
    };
    for (std::size_t i = 0; i < hops_.size(); ++i) {
      Hop hop = hops_[i];
      hop.previous = place(hop.previous);
      hop.next = place(hop.next);
      moved[place(static_cast<std::uint32_t>(i))] = hop;
    }
    for (OnLink& link : links_) link.first = place(link.first);
    hops_ = std::move(moved);
    stride_ = wider;
  }
  if (free_.empty()) {
    flows_.emplace_back();
    hops_.resize(flows_.size() * stride_);
    return static_cast<std::uint32_t>(flows_.size() - 1);
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void Traffic::foretell(double at, Event event) {
  if (last_ == kNone || moments_[last_].at != at) {
    if (free_moments_.empty()) {
      free_moments_.push_back(static_cast<std::uint32_t>(moments_.size()));
      moments_.emplace_back();
    }
    last_ = free_moments_.back();
    free_moments_.pop_back();
    moments_[last_].at = at;
    queue_.push_back({at, order_++, last_});
    std::push_heap(queue_.begin(), queue_.end(), Later());
  }
  moments_[last_].events.push_back(event);
}

void Traffic::add(const NewFlow& flow) {
  const auto hops = static_cast<std::uint32_t>(flow.demand.route.size());
  const std::uint32_t slot = take_slot(hops);
  Active& of = flows_[slot];
  of = {.left = flow.bytes.value(),
        .since = 0,
        .rate = 0,
        .weight = flow.demand.weight,
        .bound = flow.demand.bound.value(),
        .tag = flow.tag,
        .bottleneck = Filling::kOwnBound,
        .version = of.version + 1,
        .hops = hops,
        .member = kNone,
        .crossing = false};
  double start = std::max(flow.start.value(), now_) + flow.delay.value();
  Hop* hop = hops_.data() + std::size_t{slot} * stride_;
  for (const LinkId link : flow.demand.route) {
    start += latency_[link];
    *hop++ = {link, slot, kNone, kNone};
  }
  foretell(start, {slot, of.version});
}

// Puts the flow on its links; where it is alone on all of them it has its rate at once.
void Traffic::begin(std::uint32_t slot) {
  Active& of = flows_[slot];
  of.crossing = true;
  of.since = now_;
  double least = kNoLimit;
  LinkId narrowest = Filling::kOwnBound;
  bool alone = true;
  auto at = slot * stride_;
  for (Hop& hop : hops_of(slot)) {
    OnLink& link = links_[hop.link];
    hop.next = link.first;
    if (link.first != kNone) hops_[link.first].previous = at;
    link.first = at++;
    alone = ++link.count == 1 && alone;
    if (link.capacity < least) least = link.capacity, narrowest = hop.link;
  }
  if (of.left <= 0 || (of.hops == 0 && of.bound == kNoLimit)) return finish(slot);
  if (!alone) return begun_.push_back(slot);
  const bool bounded = of.bound <= least;
  set_rate(slot, bounded ? of.bound : least, bounded ? Filling::kOwnBound : narrowest);
}

void Traffic::finish(std::uint32_t slot) {
  Active& of = flows_[slot];
  for (const Hop& hop : hops_of(slot)) {
    OnLink& link = links_[hop.link];
    (hop.previous == kNone ? link.first : hops_[hop.previous].next) = hop.next;
    if (hop.next != kNone) hops_[hop.next].previous = hop.previous;
    if (--link.count > 0 && !link.changed) {
      link.changed = true;
      changed_.push_back(hop.link);
    }
  }
  ++of.version;
  of.crossing = false;
  ended_.push_back(of.tag);
  free_.push_back(slot);
}

void Traffic::handle(Event event) {
  const Active& of = flows_[event.slot];
  if (of.version != event.version) return;  // another end was foretold since
  if (of.crossing) {
    finish(event.slot);
  } else {
    begin(event.slot);
  }
}

void Traffic::set_rate(std::uint32_t slot, double rate, LinkId bottleneck) {
  Active& of = flows_[slot];
  of.bottleneck = bottleneck;
  if (of.rate == rate) return;
  of.left = std::max(0.0, of.left - of.rate * (now_ - of.since));
  of.since = now_;
  of.rate = rate;
  ++of.version;
  if (rate > 0) foretell(now_ + of.left / rate, {slot, of.version});
  if (changes_ != nullptr) changes_->push_back({of.tag, Seconds(now_), BytesPerSecond(rate)});
}

void Traffic::join(std::uint32_t slot) {
  if (flows_[slot].member != kNone) return;
  flows_[slot].member = static_cast<std::uint32_t>(members_.size());
  members_.push_back(slot);
}

// Flows on the link, whose rate was held, join where the link is no bottleneck as they need or let
// be. Whether any did. `filled`: members that have their new rate.
bool Traffic::join_unsettled(LinkId link, std::size_t filled) {
  const std::size_t before = members_.size();
  const double level = filling_.level(link);
  const bool full = filling_.spare(link) <= links_[link].capacity * kSameLevel;
  double top = 0;
  for (std::uint32_t h = links_[link].first; h != kNone; h = hops_[h].next) {
    const Active& of = flows_[hops_[h].slot];
    if (of.member < filled) top = std::max(top, filling_.rate(of.member) / of.weight);
  }
  for (std::uint32_t h = links_[link].first; h != kNone; h = hops_[h].next) {
    const Active& of = flows_[hops_[h].slot];
    if (of.member != kNone) continue;
    const double held = of.rate / of.weight * (1 + kSameLevel);
    const bool too_high = of.rate / of.weight > level * (1 + kSameLevel);
    const bool may_change = of.bottleneck == link && (!full || top > held);
    if (too_high || may_change) join(hops_[h].slot);
  }
  return members_.size() > before;
}

void Traffic::find_rates() {
  members_.clear();
  for (const std::uint32_t slot : begun_) {
    if (flows_[slot].crossing && flows_[slot].rate == 0) join(slot);
  }
  begun_.clear();
  for (const LinkId link : changed_) {
    links_[link].changed = false;
    for (std::uint32_t h = links_[link].first; h != kNone; h = hops_[h].next) {
      if (flows_[hops_[h].slot].bottleneck == link) join(hops_[h].slot);
    }
  }
  changed_.clear();
  for (bool settled = members_.empty(); !settled;) {
    filling_.clear();
    for (const std::uint32_t slot : members_) {
      route_.clear();
      for (const Hop& hop : hops_of(slot)) route_.push_back(hop.link);
      filling_.add(route_, flows_[slot].weight, flows_[slot].bound);
    }
    left_.clear();
    for (const LinkId link : filling_.crossed_links()) {
      double left = links_[link].capacity;
      for (std::uint32_t h = links_[link].first; h != kNone; h = hops_[h].next) {
        const Active& of = flows_[hops_[h].slot];
        if (of.member == kNone) left -= of.rate;
      }
      left_.push_back(left);
    }
    filling_.fill(left_);
    settled = true;
    const std::size_t before = members_.size();
    for (const LinkId link : filling_.crossed_links()) {
      if (links_[link].count > 0 && join_unsettled(link, before)) settled = false;
      if (members_.size() > 4 * before + 64) break;  // enough news for another round
    }
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    flows_[members_[i]].member = kNone;
    set_rate(members_[i], filling_.rate(i), filling_.bottleneck(i));
  }
  if (queue_.size() > 8 * flows_.size() + 1024) forget_stale();
}

// Ends that were foretold and do not count any more go out of the queue.
void Traffic::forget_stale() {
  std::erase_if(queue_, [this](const Entry& entry) {
    std::vector<Event>& events = moments_[entry.moment].events;
    std::erase_if(events,
                  [this](Event event) { return flows_[event.slot].version != event.version; });
    if (!events.empty()) return false;
    if (last_ == entry.moment) last_ = kNone;
    free_moments_.push_back(entry.moment);
    return true;
  });
  std::make_heap(queue_.begin(), queue_.end(), Later());
}

const std::vector<std::uint64_t>& Traffic::advance() {
  ended_.clear();
  while (ended_.empty()) {
    const double until = now_ * (1 + kSameMoment);
    if (unsettled() && (queue_.empty() || queue_.front().at > until)) {
      find_rates();
      continue;
    }
    if (queue_.empty()) break;
    now_ = std::max(now_, queue_.front().at);
    const double moment_ends = now_ * (1 + kSameMoment);
    while (!queue_.empty() && queue_.front().at <= moment_ends) {
      const std::uint32_t moment = queue_.front().moment;
      std::pop_heap(queue_.begin(), queue_.end(), Later());
      queue_.pop_back();
      if (last_ == moment) last_ = kNone;
      std::vector<Event> events;  // what they bring is foretold meanwhile
      events.swap(moments_[moment].events);
      for (const Event event : events) handle(event);
      events.clear();
      moments_[moment].events.swap(events);
      free_moments_.push_back(moment);
    }
  }
  return ended_;
}

}  // namespace headway::network
