// Small machines with round numbers, and the time of a call on them. Tests only.
#pragma once

#include <array>

#include "cost/collective/collective.hpp"

namespace headway::testing::machines {

constexpr double kGiga = 1e9;
constexpr std::array<CollectiveOp, 6> kOps = {
    CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
    CollectiveOp::all_to_all, CollectiveOp::broadcast,  CollectiveOp::send_receive};

inline Level level(std::int64_t size, double rate, double latency) {
  Level result;
  result.size = size;
  result.bandwidth = BytesPerSecond(rate);
  result.port_bandwidth = BytesPerSecond(rate);
  result.latency = Seconds(latency);
  return result;
}

/// Nodes of 8 at 400 GB/s, joined at 50 GB/s for each accelerator.
inline Cluster two_levels() {
  Cluster cluster;
  cluster.levels = {level(8, 400 * kGiga, 2e-6), level(8192, 50 * kGiga, 5e-6)};
  return cluster;
}

/// `per_node` ranks on each of `nodes` nodes, `active` ranks of all groups on each node.
inline GroupSpan span(std::int64_t per_node, std::int64_t nodes, std::int64_t active = 0) {
  GroupSpan result;
  result.ranks = per_node * nodes;
  result.members = {per_node, per_node * nodes};
  const std::int64_t busy = std::max(active, per_node);
  result.sharing = {busy, busy * nodes};
  return result;
}

/// Constants under which only the wire counts: no latency, full efficiency, trees out of reach.
inline LevelParameters wire_only() {
  NetworkParameters p;
  p.bandwidth_efficiency = p.in_network_efficiency = 1;
  p.tree_efficiency = 1e-9;
  p.base_latency = p.ring_step = p.ring_step_through = p.ring_gap = p.tree_fill = Seconds(0);
  p.ring_hop = p.tree_hop = p.message_hop = 0;
  LevelParameters all;
  all.fill(p);
  return all;
}

inline LevelParameters usual() {
  return {};
}

inline double seconds(CollectiveOp op, double bytes, const GroupSpan& group, const Cluster& cluster,
                      const LevelParameters& parameters) {
  return collective_time(op, Bytes(bytes), group, cluster, parameters).value();
}

}  // namespace headway::testing::machines
