// Max-min fair rates by progressive filling.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "simulate/network/network.hpp"

namespace headway::network {

/// What nothing holds down: the bound of a flow that has none.
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// [SIM-10] Rates r of flows of weight w and bound B over links of capacity C: the level r/w of all
/// flows rises together; where a link is used up its flows stay, where a flow reaches its bound it
/// stays; the others go on. The result is the one allocation in which each flow is at its bound or
/// has a bottleneck: a link that is full and on which no flow has a higher level. Exact but for
/// rounding. Used again and again: what it holds is kept.
class Filling {
 public:
  explicit Filling(std::size_t links) : on_(links) {}

  void clear();
  void add(Route route, double weight, double bound);
  /// left[i]: what others leave of crossed_links()[i].
  void fill(const std::vector<double>& left);

  /// The links that flows cross, in the order of their first flow.
  const std::vector<LinkId>& crossed_links() const { return crossed_; }
  /// Whether a flow that was added crosses the link.
  bool crosses(LinkId link) const { return on_[link].round == round_; }

  /// Bytes per second of a flow, in the order in which they were added.
  double rate(std::size_t flow) const { return flows_[flow].rate; }
  /// The link that holds it; kOwnBound: none, it is at its bound.
  static constexpr LinkId kOwnBound = ~LinkId{0};
  LinkId bottleneck(std::size_t flow) const { return flows_[flow].bottleneck; }
  /// The level at which a link was used up; infinite where it was not.
  double level(LinkId link) const { return on_[link].level; }
  /// What is left of a link.
  double spare(LinkId link) const { return on_[link].left; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct OfLink {
    std::uint32_t round = 0;  // of which clear() this is
    std::uint32_t first = kNone;
    std::uint32_t count = 0;  // flows that still rise
    double weight = 0, left = 0, level = 0;
  };
  struct OfFlow {
    double weight, bound, rate;
    LinkId bottleneck;
    std::uint32_t begin, end;  // of its crossings
    bool rises;
  };
  struct Crossing {
    LinkId link;
    std::uint32_t flow, next;
  };
  struct Candidate {
    double level;
    LinkId link;
  };
  struct Later;

  double rising_level(const OfLink& link) const;
  void stay(std::uint32_t flow, double rate, LinkId at);
  void use_up(LinkId link);

  std::vector<OfLink> on_;
  std::vector<OfFlow> flows_;
  std::vector<Crossing> crossings_;
  std::vector<LinkId> crossed_;
  std::vector<Candidate> candidates_;  // a heap, the lowest level first
  std::vector<std::uint32_t> bounded_;
  std::uint32_t round_ = 1;
};

/// The rates of all `demands` over links of these capacities.
std::vector<BytesPerSecond> shared_rates(std::span<const BytesPerSecond> capacities,
                                         std::span<const Demand> demands);

}  // namespace headway::network
