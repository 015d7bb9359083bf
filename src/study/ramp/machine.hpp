// A RAMP cluster as PAC-ML's environment has it (Parsonson et al. 2023;
// github.com/cwfparsonson/ddls
// @9e0b5ba): servers of one accelerator in communication groups of racks, every two joined by light
// of their own, so that jobs on different servers never meet.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

#include "base/quantity.hpp"

namespace headway {

/// A server by its communication group, its rack there and its place in that rack.
struct RampServer {
  std::uint8_t group = 0, rack = 0, place = 0;
  friend auto operator<=>(const RampServer&, const RampServer&) = default;
};

struct RampMachine {
  int groups = 4, racks = 4, places = 2;
  BytesPerSecond node_bandwidth{1.6e12};
  Bytes memory{80e9};
  Seconds latency{50e-9};      // of a light path
  Seconds io_latency{100e-9};  // into a server or out of one
  // What reduces: bytes a second of memory, operations a second. Of no other machine are they
  // known.
  double memory_rate = 2e12, compute_rate = 130e12;

  /// As the published code counts, quirks and all: an all-reduce at a channel's rate over the
  /// groups once more, edges that carry their operation's parameters, an exchange of weights that
  /// counts as what its target waits for.
  bool published = false;

  int servers() const { return groups * racks * places; }
  /// Of one channel: a node's bandwidth over the groups that it can reach.
  BytesPerSecond channel() const { return node_bandwidth / groups; }
  std::size_t index(RampServer at) const {
    return (static_cast<std::size_t>(at.group) * racks + at.rack) * places + at.place;
  }
  RampServer server(std::size_t index) const {
    return {static_cast<std::uint8_t>(index / places / racks),
            static_cast<std::uint8_t>(index / places % racks),
            static_cast<std::uint8_t>(index % places)};
  }
};

constexpr int kMostRampGroups = 32;

/// The shape of what takes part in a collective.
struct RampExtent {
  int groups = 1, racks = 1, places = 1;
};

/// [JOBS-1] Seconds of one transfer: latency + 2 io + bytes / rate of a channel.
Seconds one_to_one_time(const RampMachine& machine, Bytes bytes);

/// [JOBS-2] Seconds of an all-reduce over g groups, r racks, n places: steps over s = g, min(g, n),
/// r, ceil(n / x), x the groups of the machine, each of m_i = ceil(m_(i-1) / s_i) bytes, twice for
/// reduce-scatter and all-gather, 2 (latency + 2 io + m_i / rate_i), and once a sum of s_i parts.
/// rate_i = min(floor(x / k), floor(x / (s_i - 1))) transmitters of `rate` / x each, with k racks
/// contending. The published code hands in a channel's rate, so that x divides twice.
Seconds ramp_all_reduce_time(const RampMachine& machine, Bytes bytes, RampExtent over,
                             BytesPerSecond rate, int contending = 1);

/// Blocks of `count` servers whose collectives are symmetric, in the order in which they are tried:
/// (c, c, s), (c, 1, s), (c, s, 1) for c^2 s or c s = count. None: no such block exists.
std::vector<RampExtent> symmetric_blocks(const RampMachine& machine, int count);

}  // namespace headway
