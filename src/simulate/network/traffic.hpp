// Flows over time: each begins, shares links with the others that are under way, and ends.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulate/network/filling.hpp"
#include "simulate/network/network.hpp"

namespace headway::network {

struct NewFlow {
  Demand demand;
  Bytes bytes;
  Seconds start;          // not before now
  Seconds delay;          // beside the latency of its links
  std::uint64_t tag = 0;  // given back at its end
};

/// From `at` on the flow has this rate.
struct RateChange {
  std::uint64_t tag = 0;
  Seconds at;
  BytesPerSecond rate;
};

/// [SIM-11] A flow that starts at t crosses its links at t + latency, moves bytes at its max-min
/// rate, which changes only where flows begin and end, and ends when all are moved. What begins or
/// ends within 1e-12 of a moment belongs to it. Rates are found anew for the flows whose bottleneck
/// may have moved alone: those of the changed links, then, as long as the allocation of SIM-10 is
/// not met on a link of theirs, the flows on it. Memory: of the flows under way, not of all.
class Traffic {
 public:
  explicit Traffic(std::span<const Link> links);

  void add(const NewFlow& flow);
  /// Goes on to the next moment at which flows end; their tags, in the order in which they were
  /// under way. Empty: nothing is under way any more.
  const std::vector<std::uint64_t>& advance();
  Seconds now() const { return Seconds(now_); }
  /// Every change of a rate is written there from now on.
  void record(std::vector<RateChange>* into) { changes_ = into; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Active {
    double left, since, rate, weight, bound;  // bytes left at the time `since`
    std::uint64_t tag;
    LinkId bottleneck;
    std::uint32_t version;  // of its end: those foretold before do not count
    std::uint32_t hops;
    std::uint32_t member;  // its place in the rates that are being found
    bool crossing;         // its latency is over
  };
  // A flow on a link: of a list of all that are on it.
  struct Hop {
    LinkId link;
    std::uint32_t slot, previous, next;
  };
  struct Event {
    std::uint32_t slot, version;
  };
  // Events foretold one after the other for the same time.
  struct Moment {
    double at = 0;
    std::vector<Event> events;
  };
  struct Entry {
    double at;
    std::uint64_t order;
    std::uint32_t moment;
  };
  struct Later;
  struct OnLink {
    double capacity;
    std::uint32_t first = kNone;
    std::uint32_t count = 0;
    bool changed = false;
  };

  std::uint32_t take_slot(std::uint32_t hops);
  void foretell(double at, Event event);
  void handle(Event event);
  void begin(std::uint32_t slot);
  void finish(std::uint32_t slot);
  void set_rate(std::uint32_t slot, double rate, LinkId bottleneck);
  void join(std::uint32_t slot);
  bool join_unsettled(LinkId link, std::size_t filled);
  void forget_stale();
  void find_rates();
  bool unsettled() const { return !begun_.empty() || !changed_.empty(); }
  std::span<Hop> hops_of(std::uint32_t slot) {
    return {hops_.data() + std::size_t{slot} * stride_, flows_[slot].hops};
  }

  double now_ = 0;
  std::vector<double> latency_;
  std::vector<OnLink> links_;
  std::vector<Active> flows_;
  std::vector<std::uint32_t> free_;
  std::vector<Hop> hops_;  // `stride_` of each flow
  std::uint32_t stride_ = 4;
  std::vector<Moment> moments_;
  std::vector<std::uint32_t> free_moments_;
  std::vector<Entry> queue_;    // a heap
  std::uint32_t last_ = kNone;  // the moment that was foretold last
  std::uint64_t order_ = 0;
  std::vector<std::uint64_t> ended_;
  std::vector<std::uint32_t> begun_;  // without a rate
  std::vector<LinkId> changed_;       // that flows left
  std::vector<RateChange>* changes_ = nullptr;
  Filling filling_;
  std::vector<std::uint32_t> members_;
  std::vector<double> left_;
  std::vector<LinkId> route_;
};

}  // namespace headway::network
