// The one table of a network's constants: their names, what they may be, and how a fit moves them.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "cost/calibration/constant.hpp"
#include "cost/collective/collective.hpp"

namespace headway {

/// What measured calls have to show for a constant to be fitted.
enum class Shown : std::uint8_t {
  by_all_but_exchanges,
  by_short_messages,
  by_rings,
  by_rings_through_domains,  // several ranks in a domain of the level below
  by_trees,
  by_summing_switches,
  by_all_to_all,
  by_long_all_to_all,
  by_none,  // a fit sees a class at the outermost level of its rows
};

struct NetworkConstant {
  AllowedRange range;  // in a file
  double least, most;  // in a fit
  bool decades;        // a fit moves it by factors
  Shown by;
  int decimals = 3;                  // in a file
  const double* share_of = nullptr;  // what a fit moves is its share of this one, visited before
};

/// visit(name, constant, NetworkConstant) for each, in the order of the files.
template <class Parameters, class Visitor>
requires std::same_as<std::remove_const_t<Parameters>, NetworkParameters>
void for_each_constant(Parameters& p, Visitor&& visit) {
  constexpr double kMicrosecond = 1e-6, kKibibyte = 1024;
  using Row = NetworkConstant;
  visit("bandwidth_efficiency", p.bandwidth_efficiency,
        Row{kFraction, 0.05, 1, false, Shown::by_all_but_exchanges});
  visit("exchange_ratio", p.exchange_ratio,
        Row{kMultiple, 0.05, 3, true, Shown::by_long_all_to_all});
  // A tree moves long messages at most as well as a ring.
  visit("tree_efficiency", p.tree_efficiency,
        Row{kFraction, 0.1, 1, false, Shown::by_trees, 3, &p.bandwidth_efficiency});
  visit("in_network_efficiency", p.in_network_efficiency,
        Row{kFraction, 0.05, 1, false, Shown::by_summing_switches});
  visit("base_latency", p.base_latency,
        Row{kPositive, kMicrosecond, 300 * kMicrosecond, true, Shown::by_short_messages});
  visit("ring_hop", p.ring_hop, Row{kMultiple, 0.05, 50, true, Shown::by_rings});
  visit("ring_step", p.ring_step,
        Row{kPositive, 0.05 * kMicrosecond, 100 * kMicrosecond, true, Shown::by_rings});
  visit("ring_step_through", p.ring_step_through,
        Row{kPositive, 0.05 * kMicrosecond, 100 * kMicrosecond, true, Shown::by_none});
  visit("ring_gap", p.ring_gap,
        Row{kPositive, 0.05 * kMicrosecond, 100 * kMicrosecond, true,
            Shown::by_rings_through_domains});
  visit("step_overlap", p.step_overlap, Row{kShare, 0, 1, false, Shown::by_rings});
  visit("short_fraction", p.short_fraction, Row{kFraction, 0.005, 1, true, Shown::by_rings, 4});
  visit("tree_hop", p.tree_hop, Row{kMultiple, 0.05, 100, true, Shown::by_trees});
  visit("tree_fill", p.tree_fill,
        Row{kPositive, 0.05 * kMicrosecond, 300 * kMicrosecond, true, Shown::by_trees});
  visit("tree_half_size", p.tree_half_size,
        Row{kPositive, 16 * kKibibyte, 65536 * kKibibyte, true, Shown::by_trees});
  visit("message_hop", p.message_hop, Row{kMultiple, 0.02, 50, true, Shown::by_all_to_all});
}

}  // namespace headway
