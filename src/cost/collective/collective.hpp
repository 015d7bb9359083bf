// Seconds of one collective call.
#pragma once

#include <array>

#include "base/quantity.hpp"
#include "cluster/cluster.hpp"
#include "layout/placement.hpp"
#include "step/program/collectives.hpp"

namespace headway {

/// Constants of one network class, fitted on measured collectives (data/calibration/networks.toml).
/// Efficiencies are fractions of the data sheet's rate in (0, 1]. Hops count in multiples of the
/// level's latency, so that a cluster with another latency is priced with the same constants.
struct NetworkParameters {
  double bandwidth_efficiency = 0.8;    // long messages in rings and between two
  double exchange_ratio = 1;            // of an all-to-all's long messages to those of rings
  double tree_efficiency = 0.8;         // long messages in trees
  double in_network_efficiency = 0.65;  // where the switches sum (NVLink SHARP, IB SHARP)
  Seconds base_latency{15e-6};          // of any call that crosses the level: launch, first flag
  double ring_hop = 2;                  // of a ring, in latencies of the level
  Seconds ring_step{4e-6};              // of a message over one hop of a ring, long protocol
  Seconds ring_step_through{4e-6};      // the same inside a domain, of a ring that leaves it
  Seconds ring_gap{1e-6};               // between two messages of a ring through one link
  double step_overlap = 0.5;            // of steps or gaps with the transfer, 0 ... 1
  double short_fraction = 0.3;          // of one accelerator's rate: the short-message protocol
  double tree_hop = 6;                  // up and down one doubling, in latencies of the level
  Seconds tree_fill{60e-6};             // a full chunk up and down one doubling of the tree
  Bytes tree_half_size{512.0 * 1024};   // message that fills half a chunk
  double message_hop = 1;               // each peer of an all-to-all, in latencies of the level
};

using LevelParameters = std::array<NetworkParameters, kMostLevels>;

/// Time of one call over a group, all like groups communicating at once. `bytes` as in Call::bytes.
/// `choices` as in Call. A group of one rank takes no time, nor does a call without bytes. The
/// formulas, [COLL-1] to [COLL-8], stand in collective.cpp and docs/models/collectives.md.
Seconds collective_time(CollectiveOp op, Bytes bytes, const GroupSpan& span, const Cluster& cluster,
                        const LevelParameters& parameters, double choices = 1);

}  // namespace headway
