// The cost of collectives. Symbols: S bytes of the whole tensor, n ranks, and for each level i that
// the group crosses: D domains of the level below in the whole group, m ranks of the group in each
// of them, r the rate of one rank across the level [COLL-1], e its efficiency, l its latency. All
// levels work at the same time on different chunks, so the slowest level sets the transfer time.
// Validity, sources and errors: docs/models/collectives.md.
#include "cost/collective/collective.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cost/collective/collective_path.hpp"

namespace headway {

namespace {

using detail::CrossedLevel;
using detail::GroupPath;

double base_latency(const GroupPath& path) {
  double base = 0;
  for (int i = 0; i < path.levels; ++i) {
    base = std::max(base, path.level[i].parameters->base_latency.value());
  }
  return base;
}

/// a + b with a part of the shorter hidden behind the longer: overlap 0 is the sum, 1 hides the
/// more the more alike they are. Homogeneous and non-decreasing in both.
double partly_overlapped(double a, double b, double overlap) {
  return a + b > 0 ? a + b - overlap * a * b / (a + b) : 0;
}

/// [COLL-2] Ring: n-1 messages of S/n pass each link, on m parallel rings through each domain's
/// links. `rounds` is 1 for all-gather and reduce-scatter, 2 for all-reduce; `volume` the bytes
/// that one ring link carries if there were one ring: S(n-1)/n, or S of a broadcast.
///   T = base + rounds · (Σ hops·ring_hop·l + min(short, long))
///   short = max volume / min(m·r·e/2, short_fraction·rate)   (NCCL's LL protocols)
///   long  = max(Σ hops·step, Σ hops · max ring_gap) ⊕ max volume / (m·r·e)   (NCCL's Simple)
/// where ⊕ is partly_overlapped: the last message arrives after all of its hops, and no link passes
/// its n-1 messages faster than the slowest one. step: ring_step at the outermost level, inside its
/// domains ring_step_through.
double ring_time(double volume, double rounds, const GroupPath& path) {
  double hop_latency = 0, hops = 0, steps = 0, gap = 0, short_time = 0, long_time = 0, overlap = 0;
  for (int i = 0; i < path.levels; ++i) {
    const CrossedLevel& level = path.level[i];
    const NetworkParameters& parameters = *level.parameters;
    const double rate = level.members_below * level.rate * parameters.bandwidth_efficiency;
    const double short_rate = std::min(rate / 2, level.own_rate * parameters.short_fraction);
    hop_latency += level.hops * parameters.ring_hop * level.latency;
    hops += level.hops;
    const bool through = i + 1 < path.levels;
    steps += level.hops * (through ? parameters.ring_step_through : parameters.ring_step).value();
    gap = std::max(gap, parameters.ring_gap.value());
    short_time = std::max(short_time, volume / short_rate);
    long_time = std::max(long_time, volume / rate);
    overlap = parameters.step_overlap;  // of the outermost level
  }
  const double waiting = std::max(steps, hops * gap);
  const double transfer = std::min(short_time, partly_overlapped(waiting, long_time, overlap));
  return base_latency(path) + rounds * (hop_latency + transfer);
}

/// [COLL-3] Tree for an all-reduce: reduced up and broadcast down, in chunks; a switch that sums
/// [COLL-4] counts as one doubling and carries (c+1)/c of S instead of 2(D-1)/D, c its children.
///   T = base + Σ log2(children)·(tree_hop·l + tree_fill·S/(S + tree_half_size))
///            + max 2(D-1)/D·S / (m·r·tree_efficiency)
double tree_time(double bytes, const GroupPath& path) {
  double latency = 0, transfer = 0;
  for (int i = 0; i < path.levels; ++i) {
    const CrossedLevel& level = path.level[i];
    const NetworkParameters& parameters = *level.parameters;
    if (!level.has_tree) return std::numeric_limits<double>::infinity();
    double doublings, volume, efficiency;
    if (level.in_network_reduction) {
      doublings = 1;
      volume = bytes * (level.children + 1) / level.children;
      efficiency = parameters.in_network_efficiency;
    } else {
      doublings = std::log2(level.children);
      volume = bytes * 2 * (level.domains_below - 1) / level.domains_below;
      efficiency = parameters.tree_efficiency;
    }
    const double filled = bytes / (bytes + parameters.tree_half_size.value());
    latency +=
        doublings * (parameters.tree_hop * level.latency + parameters.tree_fill.value() * filled);
    transfer = std::max(transfer, volume / (level.members_below * level.rate * efficiency));
  }
  return base_latency(path) + latency + transfer;
}

/// [COLL-5] All-to-all: each rank sends S/n to each other rank; what leaves the domain below level
/// i, S(n-m)/n, goes at r·e_x, where e_x = min(1, e·exchange_ratio): each rank's messages to all
/// others at once fill the links otherwise than a ring's to its neighbour do.
///   T = base + Σ peers·message_hop·l + max S(n-m)/n·detour / (r·e_x)
/// [COLL-8] Tokens of k choices, sent once to each domain that holds some: of D domains of the
/// level below a token goes to U(D) = D·(1 - (1 - 1/D)^k), so that S·U(D)/U(n)·(D-1)/D leaves
/// instead.
double all_to_all_time(double bytes, double choices, const GroupPath& path) {
  double latency = 0, transfer = 0;
  for (int i = 0; i < path.levels; ++i) {
    const CrossedLevel& level = path.level[i];
    const NetworkParameters& parameters = *level.parameters;
    const double peers = level.members_below * (level.children - 1);
    latency += peers * parameters.message_hop * level.latency;
    double leaving = bytes * (path.ranks - level.members_below) / path.ranks;
    if (choices > 1) {
      leaving *=
          distinct(path.ranks / level.members_below, choices) / distinct(path.ranks, choices);
    }
    const double efficiency =
        std::min(1.0, parameters.bandwidth_efficiency * parameters.exchange_ratio);
    transfer = std::max(transfer, leaving * level.detour / (level.rate * efficiency));
  }
  return base_latency(path) + latency + transfer;
}

/// [COLL-6] Send and receive across the outermost level: T = base + ring_hop·l + S / (r·e).
double send_time(double bytes, const GroupPath& path) {
  const CrossedLevel& level = path.level[path.levels - 1];
  const NetworkParameters& parameters = *level.parameters;
  return parameters.base_latency.value() + parameters.ring_hop * level.latency +
         bytes / (level.rate * parameters.bandwidth_efficiency);
}

}  // namespace

Seconds collective_time(CollectiveOp op, Bytes bytes, const GroupSpan& span, const Cluster& cluster,
                        const LevelParameters& parameters, double choices) {
  const double size = bytes.value();
  if (span.ranks <= 1 || !(size > 0)) return Seconds(0);
  const GroupPath path = detail::path_of(span, cluster, parameters);
  if (path.levels == 0) return Seconds(0);
  const double ring_volume = size * (path.ranks - 1) / path.ranks;
  switch (op) {
    case CollectiveOp::all_reduce:  // [COLL-7] the library takes the faster algorithm
      return Seconds(std::min(ring_time(ring_volume, 2, path), tree_time(size, path)));
    case CollectiveOp::all_gather:
    case CollectiveOp::reduce_scatter:
      return Seconds(ring_time(ring_volume, 1, path));
    case CollectiveOp::broadcast:
      return Seconds(ring_time(size, 1, path));
    case CollectiveOp::all_to_all:
      return Seconds(all_to_all_time(size, choices, path));
    case CollectiveOp::send_receive:
      return Seconds(send_time(size, path));
  }
  return Seconds(0);
}

}  // namespace headway
