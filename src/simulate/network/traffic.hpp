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
/// ends within 1e-12 of a moment belongs to it. Memory: of the flows under way, not of all.
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
    double left = 0, since = 0, rate = 0;  // bytes left at the time `since`
    double next = kNoLimit;                // when it begins or ends as things stand
    double foretold = kNoLimit;            // no later; other times foretold do not count
    std::uint64_t tag = 0;
    bool crossing = false;  // its latency is over
  };
  // Flows foretold one after the other for the same time.
  struct Moment {
    double at = 0;
    std::vector<Filling::FlowId> flows;
  };
  struct Entry {
    double at;
    std::uint64_t order;
    std::uint32_t moment;
  };
  struct Later;

  void foretell(Filling::FlowId flow);
  void handle(Filling::FlowId flow, double at);
  void begin(Filling::FlowId flow);
  void finish(Filling::FlowId flow);
  void set_rate(Filling::FlowId flow);
  void forget_stale();
  void find_rates();

  double now_ = 0;
  std::vector<double> latency_;
  Filling filling_;
  std::vector<Active> flows_;  // by their numbers there
  std::vector<Moment> moments_;
  std::vector<std::uint32_t> free_moments_;
  std::vector<Entry> queue_;    // a heap
  std::uint32_t last_ = kNone;  // the moment that was foretold last
  std::uint64_t order_ = 0;
  std::vector<std::uint64_t> ended_;
  std::vector<RateChange>* changes_ = nullptr;
};

}  // namespace headway::network
