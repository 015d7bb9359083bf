#include "simulate/network/traffic.hpp"

#include <algorithm>
#include <cmath>

namespace headway::network {
namespace {

constexpr double kSameMoment = 1e-12;  // of the time

}  // namespace

struct Traffic::Later {
  bool operator()(const Entry& a, const Entry& b) const {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
  }
};

Traffic::Traffic(std::span<const Link> links) : filling_(links) {
  latency_.reserve(links.size());
  for (const Link& link : links) latency_.push_back(link.latency.value());
}

void Traffic::foretell(Filling::FlowId flow) {
  Active& of = flows_[flow];
  const double at = of.foretold = of.next;
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
  moments_[last_].flows.push_back(flow);
}

void Traffic::add(const NewFlow& flow) {
  const Filling::FlowId id = filling_.add(flow.demand);
  if (id == flows_.size()) flows_.emplace_back();
  double start = std::max(flow.start.value(), now_) + flow.delay.value();
  for (const LinkId link : flow.demand.route) start += latency_[link];
  flows_[id] = {.left = flow.bytes.value(), .next = start, .tag = flow.tag};
  foretell(id);
}

// Puts the flow on its links; where it is alone on all of them it has its rate at once.
void Traffic::begin(Filling::FlowId flow) {
  Active& of = flows_[flow];
  of.crossing = true;
  of.since = now_;
  of.foretold = of.next = kNoLimit;
  if (filling_.enter(flow)) set_rate(flow);
}

void Traffic::finish(Filling::FlowId flow) {
  filling_.leave(flow);
  flows_[flow].foretold = kNoLimit;
  ended_.push_back(flows_[flow].tag);
}

void Traffic::handle(Filling::FlowId flow, double at) {
  Active& of = flows_[flow];
  if (of.foretold != at) return;  // it ended, or an earlier time was foretold
  if (of.crossing && of.next > now_ * (1 + kSameMoment)) return foretell(flow);
  if (!of.crossing && of.left > 0) return begin(flow);
  finish(flow);
}

void Traffic::set_rate(Filling::FlowId flow) {
  Active& of = flows_[flow];
  if (now_ > of.since) of.left = std::max(0.0, of.left - of.rate * (now_ - of.since));
  of.since = now_;
  of.rate = filling_.rate(flow);
  of.next = now_ + of.left / of.rate;
  // A later end than was foretold is foretold when that time has come.
  if (of.next < of.foretold) foretell(flow);
  if (changes_ != nullptr) changes_->push_back({of.tag, Seconds(now_), BytesPerSecond(of.rate)});
}

void Traffic::find_rates() {
  filling_.settle();
  for (const Filling::FlowId flow : filling_.changed()) set_rate(flow);
  if (queue_.size() > 8 * flows_.size() + 1024) forget_stale();
}

// Times that were foretold and do not count any more go out of the queue.
void Traffic::forget_stale() {
  std::erase_if(queue_, [this](const Entry& entry) {
    std::vector<Filling::FlowId>& flows = moments_[entry.moment].flows;
    std::erase_if(flows, [&](Filling::FlowId flow) { return flows_[flow].foretold != entry.at; });
    if (!flows.empty()) return false;
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
    if (filling_.moved() && (queue_.empty() || queue_.front().at > until)) {
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
      const double at = moments_[moment].at;
      std::vector<Filling::FlowId> flows;  // what they bring is foretold meanwhile
      flows.swap(moments_[moment].flows);
      for (const Filling::FlowId flow : flows) handle(flow, at);
      flows.clear();
      moments_[moment].flows.swap(flows);
      free_moments_.push_back(moment);
    }
  }
  return ended_;
}

}  // namespace headway::network
