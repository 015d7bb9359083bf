// Max-min fair rates by progressive filling, found anew only where they move.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "simulate/network/levels.hpp"
#include "simulate/network/network.hpp"

namespace headway::network {

/// What nothing holds down: the bound of a flow that has none.
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// [SIM-10] Rates r of flows of weight w and bound B over links of capacity C: the level r/w of all
/// flows rises together; where a link is used up its flows stay, where a flow reaches its bound it
/// stays; the others go on. The result is the one allocation in which each flow is at its bound or
/// has a bottleneck: a link that is full and on which no flow has a higher level.
///
/// Flows enter and leave; settle() fills again from the lowest level that moves. On the way up a
/// flow is let go where the link that holds it has another level than before, or where another of
/// its links is used up below its level; all others keep their rates. Each flow that moves is let
/// go and held once, whatever it sets off. Exact but for rounding: a level that moves by less than
/// 1e-11 of itself stays.
class Filling {
 public:
  using FlowId = std::uint32_t;

  explicit Filling(std::span<const Link> links);

  /// A flow that is not on its links yet. Numbers of flows that left are given again.
  FlowId add(const Demand& demand);
  /// Puts it on them. True: it is alone there and has its rate; else settle() gives it.
  bool enter(FlowId flow);
  /// Off its links, where it is on them; the flow is no more.
  void leave(FlowId flow);
  /// Whether flows entered or left since the last settle().
  bool moved() const { return !entered_.empty() || !left_behind_.empty(); }
  /// The rates of all flows; those of `changed()` are new.
  void settle();
  const std::vector<FlowId>& changed() const { return changed_; }

  /// Bytes per second.
  double rate(FlowId flow) const { return flows_[flow].rate; }

 private:
  static constexpr LinkId kOwnBound = ~LinkId{0};
  struct alignas(64) OnLink {
    double left = 0;                  // of the capacity, by the flows that are held elsewhere
    double weight = 0;                // of the flows that it holds, and of those that rise
    double level = kNoLimit;          // of the flows that it holds
    double queued = kNoLimit;         // the lowest level at which it is to be looked at
    std::uint32_t rising = 0;         // flows of `weight`
    std::uint32_t updates = 0;        // of `left`, since it was summed up
    std::vector<std::uint32_t> hops;  // of the flows on it
  };
  struct OfFlow {
    double rate = 0, level = 0, weight = 1, bound = kNoLimit;
    LinkId bottleneck = kOwnBound;
    std::uint32_t hops = 0;
    bool on_links = false, rises = false, touched = false;
    bool alone = false;  // on its links, which know nothing of it yet
  };
  struct Hop {
    LinkId link;
    std::uint32_t place;  // in the hops of the link
  };
  struct Touched {
    FlowId flow;
    double rate;  // before
  };

  std::span<Hop> hops_of(FlowId flow) {
    return {hops_.data() + (std::size_t{flow} << stride_), flows_[flow].hops};
  }
  FlowId flow_of(std::uint32_t hop) const { return hop >> stride_; }
  void widen(std::uint32_t hops);
  static double full_level(const OnLink& link);
  void charge_alone(LinkId link);
  void sum_up(LinkId link);
  bool stands(const Levels::Entry& entry);
  void look_at(LinkId link);
  void let_go(FlowId flow);
  void hold(FlowId flow, double level, double rate, LinkId at);
  void use_up(LinkId link);

  std::vector<OnLink> links_;
  std::vector<double> capacity_;
  std::vector<bool> is_left_behind_;
  std::vector<OfFlow> flows_;
  std::vector<FlowId> free_;
  std::vector<Hop> hops_;  // 2^stride_ of each flow
  std::uint32_t stride_ = 2;
  Levels levels_;  // of links, and of flows that have a bound
  std::vector<Touched> touched_;
  std::vector<FlowId> entered_, changed_;
  std::vector<LinkId> left_behind_;
};

/// The rates of all `demands` over links of these capacities.
std::vector<BytesPerSecond> shared_rates(std::span<const BytesPerSecond> capacities,
                                         std::span<const Demand> demands);

}  // namespace headway::network
